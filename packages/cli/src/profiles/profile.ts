/** A service, and who is logged in there. */
export interface Profile {
  readonly server: string;
  /** Absent where only a token was given and nobody has asked whose it is. */
  readonly username?: string | undefined;
  readonly accessToken: string;
  /** Absent for a token that somebody else takes care of. */
  readonly refreshToken?: string | undefined;
  /** Milliseconds since the epoch; absent where it is not known. */
  readonly expiresAt?: number | undefined;
}

export interface Profiles {
  /** The name of the one that is meant when none is named. */
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** `https://reactors.example.org/` and `reactors.example.org` are the same service. */
export function serverAddress(given: string): string | undefined {
  const withScheme = /^https?:\/\//i.test(given) ? given : `${schemeFor(given)}://${given}`;
  const url = URL.parse(withScheme);
  if (url === null || url.hostname === '' || url.username !== '' || url.search !== '')
    return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Nobody has a certificate for their own machine. */
const schemeFor = (host: string): string =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/i.test(host) ? 'http' : 'https';

/** What a profile is called when its user gives it no name. */
export const usualName = (server: string): string => server.replace(/^https?:\/\//, '');
