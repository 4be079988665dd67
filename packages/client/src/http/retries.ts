import { ApiError, ConnectionError, TimeoutError } from '../errors.ts';

export interface RetryOptions {
  /** How often a request is sent again after it failed. 0: never. */
  readonly retries?: number | undefined;
  /** The longest pause before the first repetition, in milliseconds; it doubles each time. */
  readonly firstPauseMs?: number | undefined;
  /** No pause is longer than this; a Retry-After that asks for more ends the tries. */
  readonly longestPauseMs?: number | undefined;
}

export type RetryRules = { readonly [Name in keyof RetryOptions]-?: number };

export const usualRetries: RetryRules = {
  retries: 4,
  firstPauseMs: 300,
  longestPauseMs: 30_000,
};

/** Whether sending the same again may do twice what was asked once. */
export type Repeating =
  /** The same twice is the same as once. */
  | 'safe'
  /** Only what was refused before anything was done may be sent again. */
  | 'unsafe'
  /** The body is gone once it is sent. */
  | 'impossible';

const busy = new Set([502, 503, 504]);

/** How long to wait before the request is sent again; undefined: not at all. `failures`: how often it has failed, from 1. */
export function pauseBefore(
  error: unknown,
  failures: number,
  repeating: Repeating,
  rules: RetryRules,
): number | undefined {
  if (failures > rules.retries || repeating === 'impossible') return undefined;
  if (!isPassing(error, repeating)) return undefined;
  const longest = Math.min(rules.longestPauseMs, rules.firstPauseMs * 2 ** (failures - 1));
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  // Clients that were turned away together must not come back together.
  if (asked === undefined) return longest * (0.5 + Math.random() / 2);
  const askedMs = asked * 1000;
  return askedMs > rules.longestPauseMs
    ? undefined
    : askedMs + Math.random() * Math.min(longest, 1000);
}

function isPassing(error: unknown, repeating: Repeating): boolean {
  // Refused at the door: nothing was done.
  if (error instanceof ApiError && error.status === 429) return true;
  if (repeating !== 'safe') return false;
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  return error instanceof ApiError && busy.has(error.status);
}
