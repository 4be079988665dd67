import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { WaitingRequest } from './authorization-requests.ts';

interface ConsentKey {
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly redirectUri: string;
}

const upsertConsent = prepared((db, p: ConsentKey & { since: number; now: number }) =>
  db
    .insertInto('consents')
    .values({
      user_id: p.userId,
      client_id: p.clientId,
      scope: p.scope,
      redirect_uri: p.redirectUri,
      created_at: p.since,
      last_used_at: p.now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'client_id', 'scope', 'redirect_uri'])
        .doUpdateSet({ created_at: p.since, last_used_at: p.now }),
    ),
);

const deleteConsent = prepared((db, p: ConsentKey) =>
  db
    .deleteFrom('consents')
    .where('user_id', '=', p.userId)
    .where('client_id', '=', p.clientId)
    .where('scope', '=', p.scope)
    .where('redirect_uri', '=', p.redirectUri),
);

const touchConsent = prepared((db, p: ConsentKey & { now: number }) =>
  db
    .updateTable('consents')
    .set({ last_used_at: p.now })
    .where('user_id', '=', p.userId)
    .where('client_id', '=', p.clientId)
    .where('scope', '=', p.scope)
    .where('redirect_uri', '=', p.redirectUri),
);

/** What people have approved before: for one client, one scope and one address to return to. */
export class Consents {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether this person need not be asked. A client that has changed since is another one, and is asked about again. */
  async covers(userId: string, request: AuthorizationRequest): Promise<boolean> {
    if (request.showDialog) return false;
    const row = await this.#store.read
      .selectFrom('consents')
      .select('created_at')
      .where('user_id', '=', userId)
      .where('client_id', '=', request.client.id)
      .where('scope', '=', request.scope)
      .where('redirect_uri', '=', request.redirectUri)
      .executeTakeFirst();
    return row !== undefined && row.created_at > request.client.updatedAt;
  }

  async used(userId: string, request: AuthorizationRequest): Promise<void> {
    await this.#store.write(touchConsent({ ...keyOf(userId, request), now: Date.now() }));
  }
}

/** It counts from when the request came, so that what the client changed while its person read the page is not approved. */
export function rememberConsent(userId: string, request: WaitingRequest): Statement {
  return upsertConsent({
    ...keyOf(userId, request),
    since: request.createdAt,
    now: Date.now(),
  });
}

/** Who says no is asked the next time, whatever was approved before. */
export function forgetConsent(userId: string, request: AuthorizationRequest): Statement {
  return deleteConsent(keyOf(userId, request));
}

function keyOf(userId: string, request: AuthorizationRequest): ConsentKey {
  return {
    userId,
    clientId: request.client.id,
    scope: request.scope,
    redirectUri: request.redirectUri,
  };
}
