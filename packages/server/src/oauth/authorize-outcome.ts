import { ServiceError } from '../errors.ts';
import { StoreUnavailable } from '../store/store-errors.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { AuthorizationCodes } from './codes.ts';
import { type AnswerTarget, codeAddress, errorAddress, tokenAddress } from './redirect-answer.ts';
import type { Tokens } from './tokens.ts';

export interface OutcomeParts {
  readonly codes: Pick<AuthorizationCodes, 'issue'>;
  readonly tokens: Pick<Tokens, 'issue'>;
  readonly issuer: () => string;
}

/** The person has said yes, now or before: issues what was asked for and returns the address that takes it there. */
export async function approvedAddress(
  { codes, tokens, issuer }: OutcomeParts,
  request: AuthorizationRequest,
  userId: string,
): Promise<string> {
  const { client, scope, redirectUri, codeChallenge } = request;
  if (request.responseType === 'code') {
    const code = await codes.issue({ client, userId, redirectUri, scope, codeChallenge });
    return codeAddress(request, issuer(), code);
  }
  const token = await tokens.issue({ client, userId, flow: 'implicit', scope, refresh: false });
  return tokenAddress(request, issuer(), token);
}

export function deniedAddress(target: AnswerTarget, issuer: string): string {
  return errorAddress(target, issuer, 'access_denied', 'The user denied the request.');
}

/** Something failed on our side after the client was known: it hears whether trying again makes sense. */
export function failedAddress(target: AnswerTarget, issuer: string, error: unknown): string {
  const passing =
    error instanceof StoreUnavailable || (error instanceof ServiceError && error.status === 503);
  return passing
    ? errorAddress(target, issuer, 'temporarily_unavailable', 'Try again in a moment.')
    : errorAddress(target, issuer, 'server_error', 'Something failed inside the service.');
}
