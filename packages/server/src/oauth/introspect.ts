import type { Users } from '../identity/users.ts';
import type { AccessControl } from './access-control.ts';
import type { Client } from './client.ts';
import type { Clients } from './clients.ts';
import type { RefreshTokens } from './refresh-tokens.ts';
import { looksLike } from './secret-format.ts';

export interface IntrospectParts {
  readonly access: Pick<AccessControl, 'byToken'>;
  readonly refreshTokens: Pick<RefreshTokens, 'find'>;
  readonly users: Pick<Users, 'byId'>;
  readonly clients: Pick<Clients, 'byId'>;
}

/** Who asks: a client hears about its own tokens alone, an admin about all. */
export type Asker = Client | 'admin';

/** What RFC 7662 2.2 tells of a live token. Of any other, only that it is none. */
export interface Introspection {
  readonly active: boolean;
  readonly [member: string]: string | number | boolean;
}

const inactive: Introspection = { active: false };

export async function introspect(
  parts: IntrospectParts,
  asker: Asker,
  token: string,
  issuer: string,
): Promise<Introspection> {
  const found = looksLike('accessToken', token)
    ? await aboutAccessToken(parts, token)
    : await aboutRefreshToken(parts, token);
  if (found === undefined || (asker !== 'admin' && found.clientId !== asker.id)) return inactive;
  return { active: true, iss: issuer, ...found.members };
}

interface Found {
  readonly clientId: string;
  readonly members: Readonly<Record<string, string | number>>;
}

async function aboutAccessToken(parts: IntrospectParts, token: string): Promise<Found | undefined> {
  const found = await parts.access.byToken(token);
  if (found === undefined) return undefined;
  const { client, user, scope } = found;
  return {
    clientId: client.id,
    members: {
      token_type: 'bearer',
      client_id: client.key,
      username: user.username,
      sub: user.username,
      scope,
      iat: seconds(found.issuedAt),
      exp: seconds(found.expiresAt),
    },
  };
}

async function aboutRefreshToken(
  parts: IntrospectParts,
  token: string,
): Promise<Found | undefined> {
  const stored = await parts.refreshTokens.find(token);
  if (stored === undefined || stored.replacedAt !== null) return undefined;
  if (stored.endsAt !== null && stored.endsAt <= Date.now()) return undefined;
  const [user, client] = await Promise.all([
    parts.users.byId(stored.userId),
    parts.clients.byId(stored.clientId),
  ]);
  if (user?.status !== 'active' || client === undefined) return undefined;
  return {
    clientId: client.id,
    members: {
      token_type: 'refresh_token',
      client_id: client.key,
      username: user.username,
      sub: user.username,
      scope: stored.scope,
      iat: seconds(stored.issuedAt),
      // Without an end there is no `exp`.
      ...(stored.endsAt !== null && { exp: seconds(stored.endsAt) }),
    },
  };
}

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
