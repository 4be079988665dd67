import type { AccessChanges } from '../identity/access-changes.ts';
import { newId } from '../ids.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import { hashSecret, looksLike, newSecret } from './secret-format.ts';
import { deleteAuthorization } from './token-rows.ts';

/** A code lives as long as a redirect takes, and no longer. */
const codeLifetimeMs = 60_000;

export interface CodeOrder {
  readonly client: { readonly id: string };
  readonly userId: string;
  readonly redirectUri: string;
  readonly scope: string;
  /** The S256 challenge of PKCE, when the request carried one. */
  readonly codeChallenge: string | null;
}

/** An authorization code as the store knows it. */
export interface StoredCode {
  readonly hash: Uint8Array;
  /** The family that the tokens of this code form. */
  readonly authorizationId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly codeChallenge: string | null;
  readonly expiresAt: number;
}

const insertCode = prepared(
  (
    db,
    p: {
      hash: Uint8Array;
      authorizationId: string;
      clientId: string;
      userId: string;
      redirectUri: string;
      scope: string;
      codeChallenge: string | null;
      now: number;
      expiresAt: number;
    },
  ) =>
    db.insertInto('authorization_codes').values({
      hash: p.hash,
      authorization_id: p.authorizationId,
      client_id: p.clientId,
      user_id: p.userId,
      redirect_uri: p.redirectUri,
      scope: p.scope,
      code_challenge: p.codeChallenge,
      issued_at: p.now,
      expires_at: p.expiresAt,
    }),
);

/** The one statement that decides who was first: it meets a row exactly once. */
const consumeCode = prepared((db, p: { hash: Uint8Array; clientId: string; now: number }) =>
  db
    .updateTable('authorization_codes')
    .set({ used_at: p.now })
    .where('hash', '=', p.hash)
    .where('client_id', '=', p.clientId)
    .where('used_at', 'is', null),
);

/** Authorization codes: valid once, for a minute, for the client that asked. */
export class AuthorizationCodes {
  readonly #store: Store;
  readonly #changes: AccessChanges;

  constructor(store: Store, changes: AccessChanges) {
    this.#store = store;
    this.#changes = changes;
  }

  async issue(order: CodeOrder): Promise<string> {
    const code = newSecret('authorizationCode');
    const now = Date.now();
    await this.#store.write(
      insertCode({
        hash: hashSecret(code),
        authorizationId: newId(),
        clientId: order.client.id,
        userId: order.userId,
        redirectUri: order.redirectUri,
        scope: order.scope,
        codeChallenge: order.codeChallenge,
        now,
        expiresAt: now + codeLifetimeMs,
      }),
    );
    return code;
  }

  /** The code's facts, used or not, expired or not. */
  async find(code: string): Promise<StoredCode | undefined> {
    if (!looksLike('authorizationCode', code)) return undefined;
    const row = await this.#store.read
      .selectFrom('authorization_codes')
      .selectAll()
      .where('hash', '=', hashSecret(code))
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      hash: row.hash,
      authorizationId: row.authorization_id,
      clientId: row.client_id,
      userId: row.user_id,
      redirectUri: row.redirect_uri,
      scope: row.scope,
      codeChallenge: row.code_challenge,
      expiresAt: row.expires_at,
    };
  }

  /**
   * Uses the code up, and commits `unit` with it: either the code was unused and all of it is done, or none of it.
   * False: someone used the code before.
   */
  async consume(code: StoredCode, ...unit: readonly Statement[]): Promise<boolean> {
    const { hash, clientId } = code;
    const consume = expectRows(consumeCode({ hash, clientId, now: Date.now() }), 1);
    try {
      await this.#store.write(consume, ...unit);
      return true;
    } catch (error) {
      if (error instanceof UnexpectedRows) return false;
      throw error;
    }
  }

  /** Ends everything that was issued for the code: it leaked, or its client is broken. */
  async endFamily(code: StoredCode): Promise<void> {
    await this.#changes.write(
      [{ kind: 'authorization', subject: code.authorizationId }],
      deleteAuthorization({ id: code.authorizationId }),
    );
  }
}
