import type { AccessChanges } from '../identity/access-changes.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Authorizations } from './authorizations.ts';

/** An application that a person lets use the account: it has tokens, or would get them without being asked about. */
export interface ConnectedClient {
  readonly clientId: string;
  readonly name: string;
  readonly owner: string;
  /** The address of the last consent; null where there is none, as for devices. */
  readonly redirectUri: string | null;
  readonly since: number;
  readonly lastUsedAt: number;
}

interface Pair {
  readonly userId: string;
  readonly clientId: string;
}

const deleteConsents = prepared((db, p: Pair) =>
  db.deleteFrom('consents').where('user_id', '=', p.userId).where('client_id', '=', p.clientId),
);
const deleteRequestedCodes = prepared((db, p: Pair) =>
  db
    .deleteFrom('authorization_codes')
    .where('user_id', '=', p.userId)
    .where('client_id', '=', p.clientId),
);
const deleteApprovedDevices = prepared((db, p: Pair) =>
  db.deleteFrom('device_codes').where('user_id', '=', p.userId).where('client_id', '=', p.clientId),
);
/** Their tokens go with them. */
const deleteAuthorizations = prepared((db, p: Pair) =>
  db
    .deleteFrom('authorizations')
    .where('user_id', '=', p.userId)
    .where('client_id', '=', p.clientId),
);
/** Those of no authorization. The token of an execution is the execution's, and ends with it. */
const deleteLoneTokens = prepared((db, p: Pair) =>
  db
    .deleteFrom('access_tokens')
    .where('user_id', '=', p.userId)
    .where('client_id', '=', p.clientId)
    .where('flow', '!=', 'execution'),
);

export class ConnectedApplications {
  readonly #store: Store;
  readonly #changes: Pick<AccessChanges, 'write'>;
  readonly #authorizations: Pick<Authorizations, 'ofUser'>;

  constructor(
    store: Store,
    changes: Pick<AccessChanges, 'write'>,
    authorizations: Pick<Authorizations, 'ofUser'>,
  ) {
    this.#store = store;
    this.#changes = changes;
    this.#authorizations = authorizations;
  }

  /** One entry for each client, the one used last first. */
  async ofUser(userId: string): Promise<readonly ConnectedClient[]> {
    const [consents, authorizations] = await Promise.all([
      this.#consentsOf(userId),
      this.#authorizations.ofUser(userId),
    ]);
    const entries = [
      ...consents,
      ...authorizations.map(
        ({ client, createdAt, lastUsedAt }): ConnectedClient => ({
          clientId: client.id,
          name: client.name,
          owner: client.owner,
          redirectUri: null,
          since: createdAt,
          lastUsedAt,
        }),
      ),
    ];
    const byClient = new Map<string, ConnectedClient>();
    for (const entry of entries) {
      const known = byClient.get(entry.clientId);
      byClient.set(entry.clientId, known === undefined ? entry : together(known, entry));
    }
    return [...byClient.values()].sort((one, other) => other.lastUsedAt - one.lastUsedAt);
  }

  /** Takes back what the person approved, and ends every token and code that the client has for it, at once. */
  async revoke(userId: string, clientId: string): Promise<void> {
    const pair = { userId, clientId };
    await this.#changes.write(
      [{ kind: 'user', subject: userId }],
      deleteConsents(pair),
      deleteRequestedCodes(pair),
      deleteApprovedDevices(pair),
      deleteAuthorizations(pair),
      deleteLoneTokens(pair),
    );
  }

  async #consentsOf(userId: string): Promise<readonly ConnectedClient[]> {
    const rows = await this.#store.read
      .selectFrom('consents')
      .innerJoin('clients', 'clients.id', 'consents.client_id')
      .innerJoin('users', 'users.id', 'clients.owner_id')
      .select([
        'clients.id',
        'clients.name',
        'users.username as owner',
        'consents.redirect_uri',
        'consents.created_at',
        'consents.last_used_at',
      ])
      .where('consents.user_id', '=', userId)
      .orderBy('consents.last_used_at', 'desc')
      .execute();
    return rows.map((row) => ({
      clientId: row.id,
      name: row.name,
      owner: row.owner,
      redirectUri: row.redirect_uri,
      since: row.created_at,
      lastUsedAt: row.last_used_at,
    }));
  }
}

function together(one: ConnectedClient, other: ConnectedClient): ConnectedClient {
  return {
    ...one,
    redirectUri: one.redirectUri ?? other.redirectUri,
    since: Math.min(one.since, other.since),
    lastUsedAt: Math.max(one.lastUsedAt, other.lastUsedAt),
  };
}
