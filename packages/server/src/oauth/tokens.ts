import type { AccessChanges } from '../identity/access-changes.ts';
import { newId } from '../ids.ts';
import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { hashSecret, newSecret } from './secret-format.ts';
import {
  accessTokenSeconds,
  type GrantedFlow,
  type LifetimeSettings,
  refreshTokenEnd,
} from './token-lifetimes.ts';
import { insertAccessToken, insertAuthorization, insertRefreshToken } from './token-rows.ts';

/** What a token is to be issued for. */
export interface TokenOrder {
  readonly client: { readonly id: string };
  readonly userId: string;
  readonly flow: GrantedFlow;
  readonly scope: string;
  /** The family it belongs to. Without one, a flow in which a user said yes begins a new family. */
  readonly authorizationId?: string;
  /** Whether a refresh token comes with it. */
  readonly refresh: boolean;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly accessTokenHash: Uint8Array;
  /** Seconds, as configured. */
  readonly expiresIn: number;
  readonly refreshToken?: string;
}

/** Tokens that exist once their unit is committed. */
export interface Minted {
  readonly issued: IssuedTokens;
  readonly unit: readonly Statement[];
}

/** What the store knows of an access token. */
export interface StoredAccessToken {
  readonly hash: Uint8Array;
  readonly authorizationId: string | null;
  readonly clientId: string | null;
  readonly userId: string;
  readonly flow: string;
  readonly scope: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const deleteAccessToken = prepared((db, p: { hash: Uint8Array }) =>
  db.deleteFrom('access_tokens').where('hash', '=', p.hash),
);

/** How memories and other processes know a token: by its hash, never by itself. */
export const tokenSubject = (hash: Uint8Array): string =>
  Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex');

/** For log lines: enough to find a token again, too little to use it. */
export const hashPrefix = (hash: Uint8Array): string => tokenSubject(hash.subarray(0, 6));

/** Issues access and refresh tokens, and ends them. Only their hashes are kept. */
export class Tokens {
  readonly #store: Store;
  readonly #changes: AccessChanges;
  readonly #settings: LifetimeSettings;

  constructor(store: Store, changes: AccessChanges, settings: LifetimeSettings) {
    this.#store = store;
    this.#changes = changes;
    this.#settings = settings;
  }

  async issue(order: TokenOrder): Promise<IssuedTokens> {
    const { issued, unit } = this.mint(order);
    await this.#store.write(...unit);
    return issued;
  }

  /**
   * Makes tokens whose rows the caller commits together with what must happen at the same time.
   * `newFamily` is the id of the family that begins with them.
   */
  mint(order: TokenOrder, newFamily?: string): Minted {
    const { client, userId, flow, scope } = order;
    const now = Date.now();
    const unit: Statement[] = [];
    // A client that acts for its own registrant needs no yes, so there is no family.
    const standsAlone = flow === 'client_credentials' && order.authorizationId === undefined;
    const authorizationId = standsAlone ? null : (order.authorizationId ?? newFamily ?? newId());
    if (authorizationId !== null && order.authorizationId === undefined) {
      unit.push(
        insertAuthorization({ id: authorizationId, clientId: client.id, userId, flow, scope, now }),
      );
    }
    const accessToken = newSecret('accessToken');
    const accessTokenHash = hashSecret(accessToken);
    const expiresIn = accessTokenSeconds(this.#settings, flow);
    unit.push(
      insertAccessToken({
        hash: accessTokenHash,
        authorizationId,
        clientId: client.id,
        userId,
        flow,
        scope,
        now,
        expiresAt: now + expiresIn * 1000,
      }),
    );
    if (!order.refresh || authorizationId === null) {
      return { issued: { accessToken, accessTokenHash, expiresIn }, unit };
    }
    const refreshToken = newSecret('refreshToken');
    unit.push(
      insertRefreshToken({
        hash: hashSecret(refreshToken),
        authorizationId,
        clientId: client.id,
        userId,
        scope,
        now,
        expiresAt: refreshTokenEnd(this.#settings, now, now),
      }),
    );
    return { issued: { accessToken, accessTokenHash, expiresIn, refreshToken }, unit };
  }

  /** The stored facts of a token, expired or not. */
  async findByHash(hash: Uint8Array): Promise<StoredAccessToken | undefined> {
    const row = await this.#store.read
      .selectFrom('access_tokens')
      .selectAll()
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      hash: row.hash,
      authorizationId: row.authorization_id,
      clientId: row.client_id,
      userId: row.user_id,
      flow: row.flow,
      scope: row.scope,
      issuedAt: row.issued_at,
      expiresAt: row.expires_at,
    };
  }

  /** Ends this one token, here at once and in every other process soon after. */
  async revoke(hash: Uint8Array): Promise<void> {
    await this.#changes.write(
      [{ kind: 'token', subject: tokenSubject(hash) }],
      deleteAccessToken({ hash }),
    );
  }
}
