import type { Config } from '../config.ts';
import { expectRows, prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import type { Authorizations } from './authorizations.ts';
import { type ClientFlow, clientFlows } from './client.ts';
import type { RefreshSuccessors } from './refresh-successors.ts';
import { hashSecret, looksLike } from './secret-format.ts';
import { type LifetimeSettings, refreshTokenEnd } from './token-lifetimes.ts';
import { insertRefreshToken } from './token-rows.ts';
import type { IssuedTokens, Minted, Tokens } from './tokens.ts';

/** A refresh token as the store knows it. */
export interface StoredRefreshToken {
  readonly hash: Uint8Array;
  readonly authorizationId: string;
  readonly clientId: string;
  readonly userId: string;
  /** The flow in which the family began. */
  readonly flow: ClientFlow;
  readonly scope: string;
  readonly issuedAt: number;
  readonly replacedAt: number | null;
  /** When the family began. */
  readonly familyBegan: number;
  /** Null: never. */
  readonly endsAt: number | null;
}

export type RefreshAnswer =
  | { readonly status: 'refreshed'; readonly issued: IssuedTokens }
  | { readonly status: 'expired' | 'ended' | 'reused' };

interface RefreshParts {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly authorizations: Pick<Authorizations, 'end'>;
  readonly successors: RefreshSuccessors;
  readonly settings: LifetimeSettings & Pick<Config, 'refresh_rotation' | 'refresh_grace'>;
}

const noteUse = prepared((db, p: { hash: Uint8Array; now: number; expiresAt: number | null }) =>
  db
    .updateTable('refresh_tokens')
    .set({ last_used_at: p.now, expires_at: p.expiresAt })
    .where('hash', '=', p.hash)
    .where('replaced_at', 'is', null),
);

const markReplaced = prepared((db, p: { hash: Uint8Array; now: number }) =>
  db
    .updateTable('refresh_tokens')
    .set({ last_used_at: p.now, replaced_at: p.now })
    .where('hash', '=', p.hash)
    .where('replaced_at', 'is', null),
);

/** Trades refresh tokens for access tokens, with or without replacing them. */
export class RefreshTokens {
  readonly #parts: RefreshParts;

  constructor(parts: RefreshParts) {
    this.#parts = parts;
  }

  /** The token's facts, whether it may still be used or not. */
  async find(refreshToken: string): Promise<StoredRefreshToken | undefined> {
    if (!looksLike('refreshToken', refreshToken)) return undefined;
    const row = await this.#parts.store.read
      .selectFrom('refresh_tokens')
      .innerJoin('authorizations', 'authorizations.id', 'refresh_tokens.authorization_id')
      .selectAll('refresh_tokens')
      .select(['authorizations.flow', 'authorizations.created_at'])
      .where('refresh_tokens.hash', '=', hashSecret(refreshToken))
      .executeTakeFirst();
    const flow = clientFlows.find((known) => known === row?.flow);
    if (row === undefined || flow === undefined) return undefined;
    const byRule = refreshTokenEnd(this.#parts.settings, row.created_at, row.last_used_at);
    return {
      hash: row.hash,
      authorizationId: row.authorization_id,
      clientId: row.client_id,
      userId: row.user_id,
      flow,
      scope: row.scope,
      issuedAt: row.issued_at,
      replacedAt: row.replaced_at,
      familyBegan: row.created_at,
      // Limits set later count for tokens issued before, too.
      endsAt: earlier(row.expires_at, byRule),
    };
  }

  /**
   * `scope` is what the new access token gets; the refresh token keeps its own. `replace`: give a new refresh token,
   * also where the operator does not ask for it.
   */
  async use(
    refreshToken: string,
    stored: StoredRefreshToken,
    scope: string,
    { replace }: { readonly replace: boolean },
  ): Promise<RefreshAnswer> {
    if (stored.replacedAt !== null)
      return this.#useReplaced(refreshToken, stored, stored.replacedAt, scope);
    if (stored.endsAt !== null && stored.endsAt <= Date.now()) return { status: 'expired' };
    try {
      return replace || this.#parts.settings.refresh_rotation
        ? await this.#replace(refreshToken, stored, scope)
        : await this.#keep(refreshToken, stored, scope);
    } catch (error) {
      if (!(error instanceof UnexpectedRows || error instanceof UniqueViolation)) throw error;
    }
    // Someone was faster: replaced it, or ended it.
    const now = await this.find(refreshToken);
    return now === undefined || now.replacedAt === null
      ? { status: 'ended' }
      : this.#useReplaced(refreshToken, now, now.replacedAt, scope);
  }

  async #keep(
    refreshToken: string,
    stored: StoredRefreshToken,
    scope: string,
  ): Promise<RefreshAnswer> {
    const now = Date.now();
    const expiresAt = refreshTokenEnd(this.#parts.settings, stored.familyBegan, now);
    const { issued, unit } = this.#mint(stored, scope);
    await this.#parts.store.write(
      expectRows(noteUse({ hash: stored.hash, now, expiresAt }), 1),
      ...unit,
    );
    return { status: 'refreshed', issued: { ...issued, refreshToken } };
  }

  async #replace(
    refreshToken: string,
    stored: StoredRefreshToken,
    scope: string,
  ): Promise<RefreshAnswer> {
    const now = Date.now();
    const successor = this.#parts.successors.of(refreshToken);
    const { issued, unit } = this.#mint(stored, scope);
    await this.#parts.store.write(
      expectRows(markReplaced({ hash: stored.hash, now }), 1),
      insertRefreshToken({
        hash: hashSecret(successor),
        authorizationId: stored.authorizationId,
        clientId: stored.clientId,
        userId: stored.userId,
        scope: stored.scope,
        now,
        expiresAt: refreshTokenEnd(this.#parts.settings, stored.familyBegan, now),
      }),
      ...unit,
    );
    return { status: 'refreshed', issued: { ...issued, refreshToken: successor } };
  }

  /**
   * A replaced token again: within the grace, and while nobody has used the successor, the reply that carried it was
   * lost, so it is given once more. Otherwise one of two holders is a thief, and nobody can tell which: all of it ends.
   */
  async #useReplaced(
    refreshToken: string,
    stored: StoredRefreshToken,
    replacedAt: number,
    scope: string,
  ): Promise<RefreshAnswer> {
    const successor = this.#parts.successors.of(refreshToken);
    const next = await this.find(successor);
    const lost = Date.now() - replacedAt < this.#parts.settings.refresh_grace * 1000;
    if (lost && next !== undefined && next.replacedAt === null) {
      const again = await this.#keepIfUnused(successor, next, scope);
      if (again !== undefined) return again;
    }
    await this.#parts.authorizations.end(stored.authorizationId);
    return { status: 'reused' };
  }

  async #keepIfUnused(
    successor: string,
    next: StoredRefreshToken,
    scope: string,
  ): Promise<RefreshAnswer | undefined> {
    try {
      return await this.#keep(successor, next, scope);
    } catch (error) {
      if (error instanceof UnexpectedRows) return undefined;
      throw error;
    }
  }

  #mint(stored: StoredRefreshToken, scope: string): Minted {
    const { userId, flow, authorizationId } = stored;
    const client = { id: stored.clientId };
    return this.#parts.tokens.mint({
      client,
      userId,
      flow,
      scope,
      authorizationId,
      refresh: false,
    });
  }
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
