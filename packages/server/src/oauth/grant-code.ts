import { createHash, timingSafeEqual } from 'node:crypto';
import type { StoredCode } from './codes.ts';
import { type GrantContext, requireActiveUser } from './grant-context.ts';
import { TokenRefusal } from './token-errors.ts';
import { needed, type TokenForm } from './token-form.ts';
import { hashPrefix, type IssuedTokens } from './tokens.ts';

/** The code, if there is one and it is this client's. Another client's is left as it is, and not even known of. */
export async function findOwnCode(
  { parts, client, form }: GrantContext,
  code: string,
): Promise<StoredCode | undefined> {
  needed(form, 'redirect_uri');
  const stored = await parts.codes.find(code);
  return stored?.clientId === client.id ? stored : undefined;
}

/** A wrong attempt uses the code up, so that nobody can try again; a right one is used up with what it issues. */
export async function refuseWrongExchange(
  context: GrantContext,
  stored: StoredCode,
): Promise<void> {
  const { parts, client, form } = context;
  const pkceNeeded = parts.config.require_pkce || client.requirePkce;
  const problem = exchangeProblem(stored, form, pkceNeeded);
  if (problem === undefined) return;
  if (!(await parts.codes.consume(stored))) await endReplayed(context, stored);
  throw new TokenRefusal('invalid_grant', problem);
}

export async function exchangeCode(
  context: GrantContext,
  stored: StoredCode,
): Promise<IssuedTokens> {
  const { parts, client } = context;
  const { userId, scope } = stored;
  await requireActiveUser(context, userId);
  const { issued, unit } = parts.tokens.mint(
    { client, userId, flow: 'authorization_code', scope, refresh: true },
    stored.authorizationId,
  );
  if (await parts.codes.consume(stored, ...unit)) return issued;
  await endReplayed(context, stored);
  throw new TokenRefusal('invalid_grant', 'The code was used before.');
}

/** RFC 6749 4.1.2: two holders of one code, and nobody can tell which of them is the right one. */
async function endReplayed({ parts }: GrantContext, stored: StoredCode): Promise<void> {
  await parts.codes.endFamily(stored);
  parts.log.warn(
    {
      event: 'code_replayed',
      client: stored.clientId,
      user: stored.userId,
      authorization: stored.authorizationId,
      codeHash: hashPrefix(stored.hash),
    },
    'an authorization code was used twice; what it had issued was ended',
  );
}

function exchangeProblem(
  code: StoredCode,
  form: TokenForm,
  pkceNeeded: boolean,
): string | undefined {
  if (code.expiresAt <= Date.now()) return 'The code has expired.';
  if (form.get('redirect_uri') !== code.redirectUri)
    return 'The redirect_uri is not the one that the code was asked for with.';
  const verifier = form.get('code_verifier');
  if (code.codeChallenge === null) {
    if (pkceNeeded) return 'The code was asked for without PKCE, which is needed here.';
    // Someone may have taken the challenge out of the request on its way (RFC 9700 4.8.2).
    return verifier === undefined
      ? undefined
      : 'A code_verifier was sent for a code without a code_challenge.';
  }
  if (verifier === undefined) return 'The code_verifier is missing.';
  return challengeMatches(verifier, code.codeChallenge)
    ? undefined
    : 'The code_verifier does not fit the code_challenge.';
}

function challengeMatches(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const given = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const expected = Buffer.from(challenge);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
