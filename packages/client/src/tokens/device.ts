import { ConnectionError, OAuthError, TimeoutError, UnavailableError } from '../errors.ts';
import type { DeviceReply, TokenReply } from '../generated/api.ts';
import { pause } from '../http/pause.ts';

/** What to show to a person who logs in on another device. */
export interface DeviceCode {
  readonly userCode: string;
  readonly verificationUri: string;
  /** With the code in it already. */
  readonly verificationUriComplete: string;
  /** In seconds. */
  readonly expiresIn: number;
}

export const deviceCodeOf = (reply: DeviceReply): DeviceCode => ({
  userCode: reply.user_code,
  verificationUri: reply.verification_uri,
  verificationUriComplete: reply.verification_uri_complete,
  expiresIn: reply.expires_in,
});

/** Asks until the person has decided, as RFC 8628 3.5 wants it. */
export async function pollDevice(
  { interval, expires_in }: Pick<DeviceReply, 'interval' | 'expires_in'>,
  ask: () => Promise<TokenReply>,
  signal?: AbortSignal,
): Promise<TokenReply> {
  const deadline = Date.now() + expires_in * 1000;
  let waitMs = Math.max(interval, 1) * 1000;
  for (;;) {
    await pause(waitMs, signal);
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      waitMs = nextWait(error, waitMs);
    }
    if (Date.now() >= deadline)
      throw new OAuthError('expired_token', 'Nobody has confirmed the code in time. Begin again.');
  }
}

function nextWait(error: unknown, waitMs: number): number {
  if (error instanceof OAuthError && error.code === 'authorization_pending') return waitMs;
  if (error instanceof OAuthError && error.code === 'slow_down') return waitMs + 5000;
  const isPassing =
    error instanceof ConnectionError ||
    error instanceof TimeoutError ||
    error instanceof UnavailableError;
  if (!isPassing) throw error;
  return Math.min(waitMs * 2, 60_000);
}
