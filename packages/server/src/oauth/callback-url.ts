/** Which addresses a client may register for people to be sent back to. They are kept and compared byte for byte. */

export const mostCallbackUrls = 20;
export const longestCallbackUrl = 2048;

/** Schemes that run code in the page, read the machine, or are never an application's own. */
const refusedSchemes = new Set([
  'javascript',
  'data',
  'vbscript',
  'file',
  'blob',
  'filesystem',
  'about',
  'view-source',
  'intent',
  'ftp',
  'mailto',
  'ws',
  'wss',
]);

/** What the service itself adds to the address; a second one of the same name would be read in its place. */
const answerParameters = new Set([
  'code',
  'state',
  'access_token',
  'token_type',
  'expires_in',
  'error',
  'error_description',
  'error_uri',
  'iss',
]);

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** What is wrong with the address, as the end of a sentence; undefined when it may be registered. */
export function callbackProblem(url: string, allowHttp: boolean): string | undefined {
  if (url.length > longestCallbackUrl) return `is longer than ${longestCallbackUrl} characters`;
  // RFC 3986 has no other characters. Browsers would drop or turn some of the others, such as tabs and backslashes.
  if (!/^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/.test(url))
    return 'has a character that addresses cannot have; percent-encode it';
  if (url.includes('#')) return 'must not have a fragment (#)';
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):./.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined)
    return 'must be an absolute address, such as https://app.example.org/cb';
  if (refusedSchemes.has(scheme)) return `must not have the scheme ${scheme}`;
  if (!URL.canParse(url)) return 'is not a valid address';
  return authorityProblem(url, scheme, allowHttp) ?? queryProblem(url);
}

function authorityProblem(url: string, scheme: string, allowHttp: boolean): string | undefined {
  const authority = /^[^:]+:\/\/([^/?]*)/.exec(url)?.[1];
  if (authority?.includes('@')) return 'must not have a username or password';
  if (scheme !== 'http' && scheme !== 'https') return undefined;
  const host = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.exec(authority ?? '')?.[1];
  if (host === undefined) return 'must have a host, such as https://app.example.org/cb';
  if (scheme === 'http' && !allowHttp && !loopbackHost.test(host))
    return 'must be https; http is for localhost, 127.0.0.1 and [::1] only';
  return undefined;
}

function queryProblem(url: string): string | undefined {
  const at = url.indexOf('?');
  if (at === -1) return undefined;
  for (const name of new URLSearchParams(url.slice(at)).keys()) {
    if (answerParameters.has(name))
      return `must not have the query parameter ${name}: the service adds it to its answer`;
  }
  return undefined;
}
