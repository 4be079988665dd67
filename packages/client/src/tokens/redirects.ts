import { OAuthError } from '../errors.ts';

/** A login that a person has been sent to. Plain JSON: keep it (in the session) until they come back, then forget it. */
export interface LoginRequest {
  /** Where to send the person. */
  readonly url: string;
  readonly state: string;
  readonly redirectUri: string;
  /** Who must have answered. */
  readonly issuer: string;
  /** Only for the authorization code; never leaves this side before the exchange. */
  readonly codeVerifier?: string;
}

/** The parameters with which the person came back, checked to be the answer to this request. */
export function readAnswer(
  returned: string | URL | URLSearchParams,
  request: LoginRequest,
  place: 'query' | 'fragment',
): URLSearchParams {
  const answer = parametersOf(returned, place);
  if (answer.get('state') !== request.state)
    throw new OAuthError(
      'state_mismatch',
      'The answer does not belong to this login (its state differs). Begin the login again.',
    );
  if (answer.get('iss') !== request.issuer)
    throw new OAuthError(
      'issuer_mismatch',
      `The answer does not come from ${request.issuer}. Begin the login again.`,
    );
  const error = answer.get('error');
  if (error !== null) throw new OAuthError(error, answer.get('error_description') ?? error);
  return answer;
}

function parametersOf(
  returned: string | URL | URLSearchParams,
  place: 'query' | 'fragment',
): URLSearchParams {
  if (returned instanceof URLSearchParams) return returned;
  // A path alone, as servers see it, will do.
  const { search, hash } = new URL(String(returned), 'http://localhost');
  const fragment = new URLSearchParams(hash.slice(1));
  return place === 'fragment' && fragment.size > 0 ? fragment : new URLSearchParams(search);
}
