import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The token that every form carries. It is keyed with the secret in the session's cookie, so that nobody without that
 * cookie can make one, and covers the request that the form is about, so that one form's token does not fit another's.
 */
export function csrfToken(sessionCookie: string, about: string): string {
  return createHmac('sha256', sessionCookie).update(`form about ${about}`).digest('base64url');
}

export function csrfMatches(sessionCookie: string, about: string, given: string): boolean {
  const expected = Buffer.from(csrfToken(sessionCookie, about));
  const actual = Buffer.from(given);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
