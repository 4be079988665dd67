import type { Authorizations } from './authorizations.ts';
import type { Client } from './client.ts';
import type { SecurityLog } from './grant-context.ts';
import type { RefreshTokens } from './refresh-tokens.ts';
import { hashSecret, looksLike } from './secret-format.ts';
import { hashPrefix, type Tokens } from './tokens.ts';

export interface RevokeParts {
  readonly tokens: Pick<Tokens, 'findByHash' | 'revoke'>;
  readonly refreshTokens: Pick<RefreshTokens, 'find'>;
  readonly authorizations: Pick<Authorizations, 'end'>;
  readonly log: SecurityLog;
}

/**
 * Ends a token of this client (RFC 7009): an access token alone, a refresh token with everything that came of it.
 * What is unknown, over, or another client's stays as it is, and the caller is told nothing about it. Resolves with whose
 * it was.
 */
export async function revokeToken(
  parts: RevokeParts,
  client: Client,
  token: string,
): Promise<{ readonly userId: string } | undefined> {
  const hash = hashSecret(token);
  if (looksLike('accessToken', token)) {
    const stored = await parts.tokens.findByHash(hash);
    if (stored?.clientId !== client.id) return undefined;
    await parts.tokens.revoke(hash);
    note(parts, stored, hash);
    return stored;
  }
  const stored = await parts.refreshTokens.find(token);
  if (stored?.clientId !== client.id) return undefined;
  await parts.authorizations.end(stored.authorizationId);
  note(parts, stored, hash);
  return stored;
}

function note(
  { log }: RevokeParts,
  stored: { readonly clientId: string | null; readonly userId: string },
  hash: Uint8Array,
): void {
  const { clientId: client, userId: user } = stored;
  log.info({ event: 'token_revoked', client, user, tokenHash: hashPrefix(hash) }, 'token revoked');
}
