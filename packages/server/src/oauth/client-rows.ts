import type { Kysely, Selectable } from 'kysely';
import type { ClientsTable } from '../store/authorization-tables.ts';
import type { Schema } from '../store/schema.ts';
import { prepared } from '../store/statement.ts';
import { type Client, clientFlows } from './client.ts';
import { readTier } from './tiers.ts';

/** Clients as the store keeps them, and the statements that change them. */

export interface ClientRow extends Selectable<ClientsTable> {
  readonly username: string;
}

export function selectClients(read: Kysely<Schema>) {
  return read
    .selectFrom('clients')
    .innerJoin('users', 'users.id', 'clients.owner_id')
    .selectAll('clients')
    .select('users.username');
}

export function clientFrom(row: ClientRow): Client {
  const flows = textsIn(row.flows);
  return {
    id: row.id,
    ownerId: row.owner_id,
    ownerUsername: row.username,
    name: row.name,
    description: row.description,
    callbackUrls: textsIn(row.callback_urls),
    key: row.key,
    tier: readTier(row.tier) ?? 'Unlimited',
    flows: new Set(clientFlows.filter((flow) => flows.includes(flow))),
    requirePkce: row.require_pkce === 1,
    isPublic: row.secret_hash.length === 0,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function textsIn(json: string): readonly string[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

/** Changes nothing, and makes every other process that wants to add a client of this user wait until the commit. */
export const holdOwner = prepared((db, p: { ownerId: string }) =>
  db
    .updateTable('users')
    .set((eb) => ({ status: eb.ref('status') }))
    .where('id', '=', p.ownerId),
);

/** Returns a row as long as the user has no more clients than allowed. */
export const ownerWithin = prepared((db, p: { ownerId: string; most: number }) =>
  db
    .selectFrom('users')
    .select('id')
    .where('id', '=', p.ownerId)
    .where(
      (eb) =>
        eb
          .selectFrom('clients')
          .select((count) => count.fn.countAll<number>().as('clients'))
          .where('owner_id', '=', p.ownerId),
      '<=',
      p.most,
    ),
);

interface NewClientRow {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly description: string;
  readonly callbackUrls: string;
  readonly key: string;
  readonly secretHash: Uint8Array;
  readonly tier: string;
  readonly flows: string;
  readonly requirePkce: number;
  readonly now: number;
}

export const insertClient = prepared((db, p: NewClientRow) =>
  db.insertInto('clients').values({
    id: p.id,
    owner_id: p.ownerId,
    name: p.name,
    description: p.description,
    callback_urls: p.callbackUrls,
    key: p.key,
    secret_hash: p.secretHash,
    tier: p.tier,
    flows: p.flows,
    require_pkce: p.requirePkce,
    created_at: p.now,
    updated_at: p.now,
  }),
);

export const deleteClient = prepared((db, p: { id: string }) =>
  db.deleteFrom('clients').where('id', '=', p.id),
);

/** The right sides are read before the left sides are written. */
export const replaceSecret = prepared(
  (db, p: { id: string; secretHash: Uint8Array; until: number; now: number }) =>
    db
      .updateTable('clients')
      .set((eb) => ({
        previous_secret_hash: eb.ref('secret_hash'),
        previous_secret_until: p.until,
        secret_hash: p.secretHash,
        updated_at: p.now,
      }))
      .where('id', '=', p.id),
);

export const replaceSecretAtOnce = prepared(
  (db, p: { id: string; secretHash: Uint8Array; now: number }) =>
    db
      .updateTable('clients')
      .set({
        previous_secret_hash: null,
        previous_secret_until: null,
        secret_hash: p.secretHash,
        updated_at: p.now,
      })
      .where('id', '=', p.id),
);

export const insertSubscription = prepared(
  (db, p: { clientId: string; api: string; now: number }) =>
    db
      .insertInto('subscriptions')
      .values({ client_id: p.clientId, api: p.api, created_at: p.now })
      .onConflict((conflict) => conflict.columns(['client_id', 'api']).doNothing()),
);

export const deleteSubscription = prepared((db, p: { clientId: string; api: string }) =>
  db.deleteFrom('subscriptions').where('client_id', '=', p.clientId).where('api', '=', p.api),
);

/** What people agreed to was another client: it sent them elsewhere. */
export const forgetConsents = prepared((db, p: { clientId: string }) =>
  db.deleteFrom('consents').where('client_id', '=', p.clientId),
);

/** Requests at /authorize that wait for login or consent with an address that may be gone. */
export const forgetRequests = prepared((db, p: { clientId: string }) =>
  db.deleteFrom('authorization_requests').where('client_id', '=', p.clientId),
);
