import type { FastifyRequest } from 'fastify';
import type { NonceUse } from '../contract/caller.ts';
import type { User } from '../identity/user.ts';
import type { AccessControl } from '../oauth/access-control.ts';
import type { TierLimiter } from '../oauth/tiers.ts';
import { invalidNonce, type Nonces } from '../sharing/nonces.ts';

export interface NonceDoorParts {
  readonly nonces: Pick<Nonces, 'atDoor' | 'isThere'>;
  readonly access: Pick<AccessControl, 'userById' | 'clientById'>;
  readonly limiter: Pick<TierLimiter, 'take'>;
}

/** The nonce of a request, whatever it is; undefined when it has none. */
export function nonceIn({ query }: FastifyRequest): unknown {
  if (typeof query !== 'object' || query === null || !('x-nonce' in query)) return undefined;
  return query['x-nonce'];
}

/** Whether a nonce may open the route at all: an operation of one reactor that does not hand out access itself. */
export function takesNonce({ params, routeOptions }: FastifyRequest): boolean {
  const ofReactor = typeof params === 'object' && params !== null && 'reactorId' in params;
  return ofReactor && routeOptions.config.access?.nonce !== false;
}

/**
 * For whom the nonce acts. It counts against the rate of the application by which it was made; whether it opens this
 * reactor, and at which level, is found where the reactor is.
 */
export async function byNonce(
  { nonces, access, limiter }: NonceDoorParts,
  given: unknown,
): Promise<{ user: User; use: NonceUse }> {
  const found = typeof given === 'string' ? await nonces.atDoor(given) : undefined;
  if (found === undefined) throw invalidNonce();
  const { ownerId, use } = found;
  const user = await access.userById(ownerId);
  if (user?.status !== 'active') throw invalidNonce();
  const client = use.clientId === null ? undefined : await access.clientById(use.clientId);
  if (client !== undefined) limiter.take(client.id, user.id, client.tier);
  return { user, use };
}
