import { base64 } from './base64.ts';

/** What a request carries to say who sends it. */
export interface Presented {
  /** The header Authorization. */
  readonly authorization?: string | undefined;
  /** The query parameter x-nonce. */
  readonly nonce?: string | undefined;
}

/** Who calls. `OAuth` is one that keeps its tokens fresh; bearer(), basic() and nonce() make the plain ones. */
export interface Credentials {
  present(signal?: AbortSignal): Presented | Promise<Presented>;
  /** The service did not take what was presented (401): whether to try again with something newer. */
  renew?(refused: Presented, signal?: AbortSignal): Promise<boolean>;
}

/** An access token that somebody else takes care of. */
export const bearer = (token: string): Credentials => ({
  present: () => ({ authorization: `Bearer ${token}` }),
});

/** A user's own name and password, for the clients area. */
export const basic = (username: string, password: string): Credentials => {
  const presented = { authorization: basicHeader(username, password) };
  return { present: () => presented };
};

/** A nonce, which opens one reactor without a token. */
export const nonce = (value: string): Credentials => ({ present: () => ({ nonce: value }) });

export const nobody: Credentials = { present: () => ({}) };

export const basicHeader = (username: string, password: string): string =>
  `Basic ${base64(new TextEncoder().encode(`${username}:${password}`))}`;
