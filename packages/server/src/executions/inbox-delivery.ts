import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { type Caller, callerOf } from '../contract/caller.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Store } from '../store/store.ts';
import { admitMany } from './admit-many.ts';
import { type DeliverySettings, readDelivery } from './delivery.ts';
import { clientOf } from './execution-access.ts';
import type { PostedBatch, PostedMessage } from './inbox-records.ts';
import { executionAddress, ownerAddress, reactorAddress } from './links.ts';
import { readOverrides } from './overrides.ts';
import type { DeliveryLimits } from './quota-checks.ts';

export interface PostParts {
  readonly store: Store;
  readonly config: {
    readonly second_prefix: string | undefined;
  } & DeliverySettings;
  readonly baseUrl: () => string;
  /** A message has been accepted. */
  readonly onAdmitted: (reactorId: string) => void;
  /** A message has been accepted that is to run at this time, in microseconds. */
  readonly onDelayed: (dueAt: number) => void;
}

/** What a request to the inbox carries. */
interface AskedPost {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly url: string;
  readonly query: unknown;
  readonly caller: Caller | null;
}

/** The reply to a post, of one message or several. */
export interface Posted {
  readonly posted: Static<typeof PostedMessage> | Static<typeof PostedBatch>;
  /** It is the reply to an earlier request with the same key. */
  readonly repeated: boolean;
}

/** The long way: with a key, a time, quotas, as a batch, or as events. */
export async function postMore(
  parts: PostParts,
  request: AskedPost,
  reactor: Reactor,
  limits: DeliveryLimits | undefined,
): Promise<Posted> {
  const caller = callerOf(request);
  const { message: queryMessage, delay, ...query } = fieldsOf(request.query);
  const delivery = await readDelivery(
    {
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : new Uint8Array(),
      url: request.url,
      queryMessage,
      delay,
      environment: readOverrides(query, parts.config.second_prefix),
    },
    caller.userId,
    parts.config,
  );
  const { executionIds, repeated, dueAt } = await admitMany(parts.store, {
    ...delivery,
    reactorId: reactor.id,
    executor: executorOf(caller),
    limits,
  });
  if (dueAt !== undefined) parts.onDelayed(dueAt);
  else if (!repeated) parts.onAdmitted(reactor.id);
  const baseUrl = parts.baseUrl();
  const _links = {
    owner: ownerAddress(baseUrl, reactor.ownerUsername),
    messages: `${reactorAddress(baseUrl, reactor.id)}/messages`,
  };
  if (delivery.isBatch) return { posted: { executionIds: [...executionIds], _links }, repeated };
  const executionId = executionIds[0] ?? '';
  const self = executionAddress(baseUrl, reactor.id, executionId);
  const msg = delivery.messages[0]?.shown;
  return { posted: { executionId, msg, _links: { self, ..._links } }, repeated };
}

export const executorOf = (caller: Caller) => ({
  userId: caller.userId,
  username: caller.username,
  clientId: clientOf(caller),
});

export function fieldsOf(query: unknown): Readonly<Record<string, unknown>> {
  return typeof query === 'object' && query !== null ? { ...query } : {};
}
