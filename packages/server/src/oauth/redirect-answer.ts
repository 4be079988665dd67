/** Where and how an authorization request is answered. */
export interface AnswerTarget {
  /** As registered, and as the request named it. */
  readonly redirectUri: string;
  /** Undefined as long as the request has not said it properly. */
  readonly responseType: 'code' | 'token' | undefined;
  readonly state: string | undefined;
}

/** RFC 6749 sections 4.1.2.1 and 4.2.2.1. */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'server_error'
  | 'temporarily_unavailable';

type Fields = Readonly<Record<string, string | undefined>>;

/** The address that takes a code to the client. */
export function codeAddress(target: AnswerTarget, issuer: string, code: string): string {
  return addressWith(target, { query: { code, state: target.state, iss: issuer } });
}

/** The address that takes a token to the client: in the fragment alone, which no server and no log gets to see. */
export function tokenAddress(
  target: AnswerTarget,
  issuer: string,
  token: { readonly accessToken: string; readonly expiresIn: number },
): string {
  const fragment = {
    access_token: token.accessToken,
    token_type: 'bearer',
    expires_in: String(token.expiresIn),
    state: target.state,
    iss: issuer,
  };
  return addressWith(target, { fragment });
}

/** An error of the implicit flow stands in both places: some clients look in the one, some in the other. */
export function errorAddress(
  target: AnswerTarget,
  issuer: string,
  error: AuthorizationErrorCode,
  description: string,
): string {
  const fields = { error, error_description: description, state: target.state, iss: issuer };
  return addressWith(
    target,
    target.responseType === 'token' ? { query: fields, fragment: fields } : { query: fields },
  );
}

/** The registered address stays as it is, its own query included; only the answer is put behind it. */
function addressWith(
  { redirectUri }: AnswerTarget,
  answer: { readonly query?: Fields; readonly fragment?: Fields },
): string {
  let address = redirectUri;
  if (answer.query !== undefined) address += separator(redirectUri) + encode(answer.query);
  if (answer.fragment !== undefined) address += `#${encode(answer.fragment)}`;
  return address;
}

function separator(uri: string): string {
  if (!uri.includes('?')) return '?';
  return /[?&]$/.test(uri) ? '' : '&';
}

function encode(fields: Fields): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&');
}
