import type { TokenReply } from '../generated/api.ts';

/** A token as it is kept; plain JSON. */
export interface Token {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly obtainedAt: number;
  readonly expiresAt: number;
  /** How to get the next one where there is no refresh token. */
  readonly flow?: 'client_credentials' | undefined;
}

/** Where tokens stay between two starts of a program. */
export interface TokenStore {
  load(): Token | undefined | Promise<Token | undefined>;
  /** Undefined: forget it. */
  save(token: Token | undefined): void | Promise<void>;
  /**
   * Where several programs share the store: runs the work while no other program runs its own. A renewal replaces the refresh
   * token too, so whoever comes second is to find the new one.
   */
  exclusively?<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** Keeps the token as long as the program runs. */
export function memoryStore(first?: Token): TokenStore {
  let kept = first;
  return {
    load: () => kept,
    save: (token) => {
      kept = token;
    },
  };
}

export function tokenOf(reply: TokenReply, before?: Token): Token {
  const obtainedAt = Date.now();
  const refreshToken = reply.refresh_token ?? before?.refreshToken;
  return {
    accessToken: reply.access_token,
    ...(refreshToken !== undefined && { refreshToken }),
    obtainedAt,
    expiresAt: obtainedAt + reply.expires_in * 1000,
  };
}

/** A minute before the end, or the last tenth of a short life: a request that is on its way must still arrive. */
export function isDue({ obtainedAt, expiresAt }: Token, now = Date.now()): boolean {
  return now >= expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 10);
}
