/** The errors of RFC 6749 5.2 and RFC 8628 3.5. */
export type TokenError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token';

/** A refusal in the words of OAuth. The description never repeats what was sent. */
export class TokenRefusal extends Error {
  readonly error: TokenError;

  constructor(error: TokenError, description: string) {
    super(description);
    this.name = 'TokenRefusal';
    this.error = error;
  }

  get status(): number {
    return this.error === 'invalid_client' ? 401 : 400;
  }
}

/** One sentence for an unknown client and for a wrong secret: which of them it was is nobody's business. */
export const unknownClient = (): TokenRefusal =>
  new TokenRefusal(
    'invalid_client',
    'The client is unknown, or its secret is wrong. Send the client key and secret with HTTP Basic or in the body.',
  );

/** RFC 6749 5.2 leaves out quotation marks, backslashes and everything beyond printable ASCII. */
export const asDescription = (text: string): string =>
  text.replaceAll('"', "'").replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
