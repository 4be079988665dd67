import { timingSafeEqual } from 'node:crypto';
import type { Page } from '../contract/page.ts';
import { fail } from '../errors.ts';
import type { AccessChanges } from '../identity/access-changes.ts';
import { newId, randomText } from '../ids.ts';
import { expectRows, once, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { ForeignKeyViolation, UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import { type Catalogue, catalogue } from './apis.ts';
import { type Client, type ClientFlow, clientNamePattern, commandLineKey } from './client.ts';
import {
  clientFrom,
  deleteClient,
  deleteSubscription,
  forgetConsents,
  forgetRequests,
  holdOwner,
  insertClient,
  insertSubscription,
  ownerWithin,
  replaceSecret,
  replaceSecretAtOnce,
  selectClients,
} from './client-rows.ts';
import { hashSecret, newSecret } from './secret-format.ts';
import type { Tier } from './tiers.ts';

/** What a user says about a client of theirs. */
export interface ClientFields {
  readonly description: string;
  readonly callbackUrls: readonly string[];
  readonly tier: Tier;
  readonly flows: ReadonlySet<ClientFlow>;
  readonly requirePkce: boolean;
}

export interface ReplacedSecret {
  readonly client: Client;
  readonly secret: string;
  /** Until when the secret before this one works. */
  readonly previousUntil: number | undefined;
}

export interface ClientsOptions {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write'>;
  /** How many clients one user may have. */
  readonly perUser: number;
  readonly apis?: Catalogue;
  readonly now?: () => number;
}

const keyLength = 28;
const keyPattern = /^[0-9A-Za-z]{28}$/;

/** Compared with when there is no such client, so that a wrong key takes as long as a wrong secret. */
const nobodysHash = hashSecret(newSecret('clientSecret'));

/** The registered client applications and what they are subscribed to. */
export class Clients {
  readonly apis: Catalogue;
  readonly #store: Store;
  readonly #changes: Pick<AccessChanges, 'write'>;
  readonly #perUser: number;
  readonly #now: () => number;

  constructor({ store, changes, perUser, apis = catalogue, now = Date.now }: ClientsOptions) {
    this.apis = apis;
    this.#store = store;
    this.#changes = changes;
    this.#perUser = perUser;
    this.#now = now;
  }

  async byId(id: string): Promise<Client | undefined> {
    const row = await selectClients(this.#store.read)
      .where('clients.id', '=', id)
      .executeTakeFirst();
    return row && clientFrom(row);
  }

  /** By the client_id of OAuth, whatever text was sent as one. */
  async byKey(key: string): Promise<Client | undefined> {
    // Some of the texts that no key has are such that the store could not even be asked for them.
    if (!keyPattern.test(key) && key !== commandLineKey) return undefined;
    const row = await selectClients(this.#store.read)
      .where('clients.key', '=', key)
      .executeTakeFirst();
    return row && clientFrom(row);
  }

  /** The client that needs no secret, by its key; undefined for those that need one, as for those that are none. */
  async publicByKey(key: string): Promise<Client | undefined> {
    const client = await this.byKey(key);
    return client?.isPublic === true ? client : undefined;
  }

  async byName(ownerId: string, name: string): Promise<Client | undefined> {
    if (!clientNamePattern.test(name)) return undefined;
    const row = await selectClients(this.#store.read)
      .where('clients.owner_id', '=', ownerId)
      .where('clients.name', '=', name)
      .executeTakeFirst();
    return row && clientFrom(row);
  }

  /** A user's clients, by name, from the first one after `after`. */
  async ofOwner(
    ownerId: string,
    page: Page & { readonly after: string },
  ): Promise<readonly Client[]> {
    const rows = await selectClients(this.#store.read)
      .where('clients.owner_id', '=', ownerId)
      .where('clients.name', '>', page.after)
      .orderBy('clients.name')
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    return rows.map(clientFrom);
  }

  /** The client whose key and secret these are; the secret before the last rotation counts as long as its overlap lasts. */
  async authenticate(key: string, secret: string): Promise<Client | undefined> {
    // Only what is compared is read first: building a whole client would tell by its time that the key exists.
    const known = keyPattern.test(key) ? await this.#secretsOf(key) : undefined;
    const given = hashSecret(secret);
    const current = timingSafeEqual(given, known?.secret_hash ?? nobodysHash);
    const previous = timingSafeEqual(given, known?.previous_secret_hash ?? nobodysHash);
    const overlaps = (known?.previous_secret_until ?? 0) > this.#now();
    if (known === undefined || !(current || (previous && overlaps))) return undefined;
    return this.byId(known.id);
  }

  /** Registers a client and subscribes it to every API. The secret is known here and nowhere else afterwards. */
  async create(
    owner: { readonly id: string; readonly username: string },
    name: string,
    fields: ClientFields,
  ): Promise<{ readonly client: Client; readonly secret: string }> {
    const id = newId();
    const key = randomText(keyLength);
    const secret = newSecret('clientSecret');
    const now = this.#now();
    try {
      await this.#store.write(
        expectRows(holdOwner({ ownerId: owner.id }), 1),
        insertClient({
          id,
          ownerId: owner.id,
          name,
          description: fields.description,
          callbackUrls: JSON.stringify(fields.callbackUrls),
          key,
          secretHash: hashSecret(secret),
          tier: fields.tier,
          flows: JSON.stringify([...fields.flows]),
          requirePkce: fields.requirePkce ? 1 : 0,
          now,
        }),
        expectRows(ownerWithin({ ownerId: owner.id, most: this.#perUser }), 1),
        ...this.apis.map((api) => insertSubscription({ clientId: id, api: api.name, now })),
      );
    } catch (error) {
      if (error instanceof UniqueViolation) throw fail('name_taken', { kind: 'client', name });
      if (error instanceof UnexpectedRows)
        throw error.statement === 0
          ? fail('unknown_resource', { kind: 'user', name: owner.username })
          : fail('conflict', {
              problem: `You have ${this.#perUser} clients, which is as many as a user may have. Delete one first.`,
            });
      throw error;
    }
    const client = {
      id,
      ownerId: owner.id,
      ownerUsername: owner.username,
      name,
      key,
      isPublic: false,
      createdAt: now,
      updatedAt: now,
      ...fields,
    };
    return { client, secret };
  }

  /** Changes what is given and leaves the rest. People are asked again when the callback addresses change. */
  async update(client: Client, fields: Partial<ClientFields>): Promise<Client> {
    const now = this.#now();
    const { description, callbackUrls, tier, flows, requirePkce } = fields;
    const update = once((db) =>
      db
        .updateTable('clients')
        .set({
          updated_at: now,
          ...(description !== undefined && { description }),
          ...(callbackUrls !== undefined && { callback_urls: JSON.stringify(callbackUrls) }),
          ...(tier !== undefined && { tier }),
          ...(flows !== undefined && { flows: JSON.stringify([...flows]) }),
          ...(requirePkce !== undefined && { require_pkce: requirePkce ? 1 : 0 }),
        })
        .where('id', '=', client.id),
    );
    const moved =
      callbackUrls !== undefined &&
      JSON.stringify(callbackUrls) !== JSON.stringify(client.callbackUrls);
    const clientId = client.id;
    await this.#change(
      client,
      expectRows(update, 1),
      ...(moved ? [forgetConsents({ clientId }), forgetRequests({ clientId })] : []),
    );
    return { ...client, ...fields, updatedAt: now };
  }

  /** Its tokens, codes, consents and subscriptions go with it. */
  async remove(client: Client): Promise<void> {
    await this.#change(client, expectRows(deleteClient({ id: client.id }), 1));
  }

  /** Gives the client a new secret; the one it had stays valid for `overlapSeconds`. */
  async rotateSecret(client: Client, overlapSeconds: number): Promise<ReplacedSecret> {
    const secret = newSecret('clientSecret');
    const now = this.#now();
    const until = overlapSeconds === 0 ? undefined : now + overlapSeconds * 1000;
    const change = { id: client.id, secretHash: hashSecret(secret), now };
    const replace =
      until === undefined ? replaceSecretAtOnce(change) : replaceSecret({ ...change, until });
    await this.#change(client, expectRows(replace, 1));
    return { client: { ...client, updatedAt: now }, secret, previousUntil: until };
  }

  /** The names of the APIs that the client may call. */
  async subscriptionsOf(clientId: string): Promise<ReadonlySet<string>> {
    const rows = await this.#store.read
      .selectFrom('subscriptions')
      .select('api')
      .where('client_id', '=', clientId)
      .execute();
    return new Set(rows.map(({ api }) => api));
  }

  /** Being subscribed already is no error. */
  async subscribe(client: Client, apis: Catalogue): Promise<void> {
    const now = this.#now();
    const unit = apis.map((api) => insertSubscription({ clientId: client.id, api: api.name, now }));
    await this.#change(client, ...unit);
  }

  async unsubscribe(client: Client, apis: Catalogue): Promise<void> {
    const unit = apis.map((api) => deleteSubscription({ clientId: client.id, api: api.name }));
    await this.#change(client, ...unit);
  }

  /** Every change of a client is announced, so that no process goes on with what it remembers. */
  async #change(client: Client, ...unit: readonly Statement[]): Promise<void> {
    try {
      await this.#changes.write([{ kind: 'client', subject: client.id }], ...unit);
    } catch (error) {
      // Another request deleted it in between.
      if (error instanceof UnexpectedRows || error instanceof ForeignKeyViolation)
        throw fail('unknown_resource', { kind: 'client', name: client.name });
      throw error;
    }
  }

  #secretsOf(key: string) {
    return this.#store.read
      .selectFrom('clients')
      .select(['id', 'secret_hash', 'previous_secret_hash', 'previous_secret_until'])
      .where('key', '=', key)
      .executeTakeFirst();
  }
}
