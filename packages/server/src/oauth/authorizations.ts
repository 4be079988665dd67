import type { AccessChanges } from '../identity/access-changes.ts';
import type { Store } from '../store/store.ts';
import { deleteAuthorization } from './token-rows.ts';

/** What a user let a client do, and still lets it do. */
export interface Authorization {
  readonly id: string;
  readonly client: { readonly id: string; readonly name: string; readonly owner: string };
  readonly flow: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/** The families of tokens that users have let clients have. */
export class Authorizations {
  readonly #store: Store;
  readonly #changes: AccessChanges;

  constructor(store: Store, changes: AccessChanges) {
    this.#store = store;
    this.#changes = changes;
  }

  /** Those of a user that still have a live token, the newest first. */
  async ofUser(userId: string): Promise<readonly Authorization[]> {
    const now = Date.now();
    const rows = await this.#store.read
      .selectFrom('authorizations')
      .innerJoin('clients', 'clients.id', 'authorizations.client_id')
      .innerJoin('users', 'users.id', 'clients.owner_id')
      .select((row) => [
        'authorizations.id',
        'authorizations.flow',
        'authorizations.created_at',
        'clients.id as client_id',
        'clients.name',
        'users.username as owner',
        row
          .selectFrom('access_tokens')
          .select((token) => token.fn.max('access_tokens.issued_at').as('at'))
          .whereRef('access_tokens.authorization_id', '=', 'authorizations.id')
          .where('access_tokens.expires_at', '>', now)
          .as('last_issue'),
        row
          .selectFrom('refresh_tokens')
          .select((token) => token.fn.max('refresh_tokens.last_used_at').as('at'))
          .whereRef('refresh_tokens.authorization_id', '=', 'authorizations.id')
          .where('refresh_tokens.replaced_at', 'is', null)
          .where((token) =>
            token.or([
              token('refresh_tokens.expires_at', 'is', null),
              token('refresh_tokens.expires_at', '>', now),
            ]),
          )
          .as('last_refresh'),
      ])
      .where('authorizations.user_id', '=', userId)
      .orderBy('authorizations.created_at', 'desc')
      .orderBy('authorizations.id')
      .execute();
    return rows
      .filter((row) => row.last_issue !== null || row.last_refresh !== null)
      .map((row) => ({
        id: row.id,
        client: { id: row.client_id, name: row.name, owner: row.owner },
        flow: row.flow,
        createdAt: row.created_at,
        lastUsedAt: Math.max(Number(row.last_issue ?? 0), Number(row.last_refresh ?? 0)),
      }));
  }

  /** Ends it with every token of it, here at once and in every other process soon after. */
  async end(id: string): Promise<void> {
    await this.#changes.write(
      [{ kind: 'authorization', subject: id }],
      deleteAuthorization({ id }),
    );
  }
}
