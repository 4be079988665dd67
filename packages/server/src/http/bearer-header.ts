/** What an Authorization header holds. */
export type Authorization =
  | { readonly scheme: 'none' }
  | { readonly scheme: 'bearer'; readonly token: string }
  | { readonly scheme: 'basic'; readonly header: string }
  | { readonly scheme: 'malformed' }
  | { readonly scheme: 'other' };

/** RFC 6750 2.1: `Bearer` in any case, one space, one b64token. */
export function readAuthorization(header: string | undefined): Authorization {
  if (header === undefined || header === '') return { scheme: 'none' };
  const bearer = /^bearer(?: +([A-Za-z0-9._~+/-]+=*))?$/i.exec(header);
  if (bearer !== null) {
    return bearer[1] === undefined
      ? { scheme: 'malformed' }
      : { scheme: 'bearer', token: bearer[1] };
  }
  if (/^bearer(?:[^A-Za-z]|$)/i.test(header)) return { scheme: 'malformed' };
  return /^basic(?: |$)/i.test(header) ? { scheme: 'basic', header } : { scheme: 'other' };
}
