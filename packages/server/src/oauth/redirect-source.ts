/**
 * The source of an address in a Content-Security-Policy. Browsers apply form-action to the redirects that follow a form
 * as well, so that without this the answer would never arrive. CSP cannot name every host that an address can have
 * (IPv6, punctuation); for those the scheme has to do, and nothing that a host holds can end the directive.
 */
export function sourceOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return '';
  const named = /^https?:\/\/[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d+)?$/.test(url.origin);
  return named ? url.origin : url.protocol;
}
