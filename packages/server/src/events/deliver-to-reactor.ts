import type { Config } from '../config.ts';
import type { Caller } from '../contract/caller.ts';
import { ServiceError } from '../errors.ts';
import type { User } from '../identity/user.ts';
import { leadsBack } from '../reactors/reactor-links.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { expectRows, type Statement } from '../store/statement.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import { endDelivery, type Taken } from './deliveries.ts';
import { eventPayload } from './event.ts';
import { Undelivered } from './undelivered.ts';

export interface LinkParts {
  readonly config: Pick<Config, 'tenant'>;
  readonly reactors: Pick<Reactors, 'byName' | 'forCaller'>;
  readonly userById: (id: string) => Promise<User | undefined>;
  /** Gives the reactor a JSON message in the user's name, in one unit with what stands beside it. */
  readonly send: (
    reactorId: string,
    sender: Pick<User, 'id' | 'username'>,
    body: string,
    beside: Statement,
  ) => Promise<void>;
}

/**
 * The event becomes a message of the linked reactor, in the name of the owner, exactly once: the message and the end of
 * the delivery are one unit. Whether the owner may, and whether links have come to lead in a circle, is looked at each
 * time: both may have changed since the link was set.
 */
export async function deliverToReactor(
  parts: LinkParts,
  { delivery, event }: Taken,
): Promise<void> {
  const owner = await parts.userById(event.owner_id);
  if (owner?.status !== 'active' || !owner.grants.has('reactors'))
    throw new Undelivered('the owner of the reactor may not use reactors any more', {
      lasting: true,
    });
  if (await leadsBack(parts.reactors, event.reactor_id, delivery.target))
    throw new Undelivered('stopped: the links of these reactors have come to make a circle', {
      lasting: true,
    });
  const { id: userId, username, roles, grants } = owner;
  const caller: Caller = { userId, username, roles, grants, by: { kind: 'service' } };
  const body = JSON.stringify(eventPayload(event, parts.config.tenant));
  const now = Date.now();
  try {
    const target = await parts.reactors.forCaller(caller, delivery.target, 'EXECUTE');
    const ended = { id: delivery.id, status: 'DELIVERED', code: null, problem: '', now } as const;
    await parts.send(target.id, owner, body, expectRows(endDelivery(ended), 1));
  } catch (error) {
    // Somebody else has delivered it meanwhile.
    if (error instanceof UnexpectedRows) return;
    if (!(error instanceof ServiceError)) throw error;
    const passing = error.status === 429 || error.status >= 500;
    throw new Undelivered(error.message, { lasting: !passing });
  }
}
