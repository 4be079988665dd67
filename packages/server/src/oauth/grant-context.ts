import type { Config } from '../config.ts';
import type { Credentials } from '../identity/credentials.ts';
import type { User } from '../identity/user.ts';
import type { Users } from '../identity/users.ts';
import type { AccessControl } from './access-control.ts';
import type { Client } from './client.ts';
import type { AuthorizationCodes } from './codes.ts';
import type { DeviceCodes } from './device-codes.ts';
import type { RefreshTokens } from './refresh-tokens.ts';
import { TokenRefusal } from './token-errors.ts';
import type { TokenForm } from './token-form.ts';
import { hashPrefix, type IssuedTokens, type Tokens } from './tokens.ts';

/** Where security events go: with ids and prefixes of hashes, never with a secret. */
export interface SecurityLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  /** Whether lines of this level are written; those that are not need not be put together. */
  isLevelEnabled?(level: string): boolean;
}

/** What the grants work with. */
export interface GrantParts {
  readonly tokens: Tokens;
  readonly codes: AuthorizationCodes;
  readonly refreshTokens: RefreshTokens;
  readonly deviceCodes: DeviceCodes;
  readonly users: Pick<Users, 'byId'>;
  /** The one who registered the client, as last read: asked for with every token of client credentials. */
  readonly registrants: Pick<AccessControl, 'userById'>;
  readonly credentials: Pick<Credentials, 'check'>;
  readonly config: Pick<Config, 'password_flow' | 'require_pkce'>;
  readonly log: SecurityLog;
}

/** One request for a token, from a client that has proved itself. */
export interface GrantContext {
  readonly parts: GrantParts;
  readonly client: Client;
  readonly form: TokenForm;
  readonly address: string;
}

/** Nothing is issued for a user who was disabled or removed. */
export async function requireActiveUser({ parts }: GrantContext, id: string): Promise<void> {
  requireActive(await parts.users.byId(id));
}

export async function requireActiveRegistrant({ parts, client }: GrantContext): Promise<void> {
  requireActive(await parts.registrants.userById(client.ownerId));
}

function requireActive(user: User | undefined): void {
  if (user?.status !== 'active')
    throw new TokenRefusal('invalid_grant', 'The user is not active any more.');
}

export function noteIssue(
  { parts, client }: GrantContext,
  issued: IssuedTokens,
  about: { readonly user: string; readonly grant: string },
): void {
  if (parts.log.isLevelEnabled?.('info') === false) return;
  parts.log.info(
    {
      event: 'token_issued',
      client: client.id,
      ...about,
      tokenHash: hashPrefix(issued.accessTokenHash),
    },
    'token issued',
  );
}
