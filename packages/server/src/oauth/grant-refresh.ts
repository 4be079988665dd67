import { type GrantContext, requireActiveUser } from './grant-context.ts';
import type { StoredRefreshToken } from './refresh-tokens.ts';
import { TokenRefusal } from './token-errors.ts';
import { hashPrefix, type IssuedTokens } from './tokens.ts';

/** The refresh token, if there is one and it is this client's. */
export async function findOwnRefreshToken(
  { parts, client }: GrantContext,
  refreshToken: string,
): Promise<StoredRefreshToken | undefined> {
  const stored = await parts.refreshTokens.find(refreshToken);
  return stored?.clientId === client.id ? stored : undefined;
}

export async function refresh(
  context: GrantContext,
  refreshToken: string,
  stored: StoredRefreshToken,
  scope: string,
): Promise<IssuedTokens> {
  await requireActiveUser(context, stored.userId);
  const answer = await context.parts.refreshTokens.use(refreshToken, stored, scope, {
    // Whoever finds the token of a public client can use it; replacing it shows that two do (RFC 9700 4.14.2).
    replace: context.client.isPublic,
  });
  switch (answer.status) {
    case 'refreshed':
      return answer.issued;
    case 'reused':
      context.parts.log.warn(
        {
          event: 'refresh_token_reused',
          client: stored.clientId,
          user: stored.userId,
          authorization: stored.authorizationId,
          tokenHash: hashPrefix(stored.hash),
        },
        'a replaced refresh token was used again; all that came of it was ended',
      );
      throw new TokenRefusal('invalid_grant', 'The refresh token was replaced by a newer one.');
    default:
      throw new TokenRefusal('invalid_grant', 'The refresh token has expired or was revoked.');
  }
}
