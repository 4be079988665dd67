import type { Client } from './client.ts';
import type { AnswerTarget } from './redirect-answer.ts';

/** A request at /authorize that has passed every check. Only a person's yes or no is missing. */
export interface AuthorizationRequest extends AnswerTarget {
  readonly client: Client;
  readonly responseType: 'code' | 'token';
  readonly scope: string;
  /** Ask again, whatever was approved before. */
  readonly showDialog: boolean;
  /** The S256 challenge of PKCE. */
  readonly codeChallenge: string | null;
}

/** The flow that a response type belongs to. */
export const flowOf = { code: 'authorization_code', token: 'implicit' } as const;
