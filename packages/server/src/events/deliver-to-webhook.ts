import type { Config } from '../config.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Taken } from './deliveries.ts';
import { eventPayload } from './event.ts';
import { AddressRefused, postWebhook } from './post-webhook.ts';
import { Undelivered } from './undelivered.ts';
import type { WebhookKeys } from './webhook-keys.ts';

export interface WebhookParts {
  readonly config: Pick<Config, 'tenant' | 'webhook_allow' | 'webhook_timeout'>;
  readonly reactors: Pick<Reactors, 'byId'>;
  readonly keys: WebhookKeys;
  readonly stopping: AbortSignal;
}

/** Posts the event, signed. Resolves with the status of an answer that accepts it. */
export async function deliverToWebhook(parts: WebhookParts, taken: Taken): Promise<number> {
  const { config, keys } = parts;
  const { delivery, event } = taken;
  const body = JSON.stringify(eventPayload(event, config.tenant));
  // The same for every attempt, so that the receiver knows an event again that it has seen.
  const messageId = `evt_${event.id}_${event.execution_id ?? event.reactor_id}`;
  // A reactor that has gone meanwhile signs with the key that it had.
  const reactor = (await parts.reactors.byId(event.reactor_id)) ?? {
    id: event.reactor_id,
    webhookKey: delivery.webhook_key,
    webhookRotatedAt: null,
  };
  const code = await call({
    url: delivery.target,
    body,
    headers: keys.sign(reactor, messageId, body, Date.now()),
    timeoutMs: config.webhook_timeout * 1000,
    stopping: parts.stopping,
    allowed: config.webhook_allow,
  });
  if (code >= 200 && code < 300) return code;
  // 410 is how a receiver says that it wants to hear nothing more.
  throw new Undelivered(`answered ${code}`, { code, lasting: code === 410 });
}

async function call(request: Parameters<typeof postWebhook>[0]): Promise<number> {
  try {
    return await postWebhook(request);
  } catch (error) {
    const problem = error instanceof Error ? sentenceOf(error) : String(error);
    throw new Undelivered(problem, { lasting: error instanceof AddressRefused });
  }
}

/** Several addresses of one name fail together, each with its reason. */
function sentenceOf(error: Error): string {
  if (error.message !== '') return error.message;
  const reasons = error instanceof AggregateError ? error.errors : [];
  return reasons.map(String).join('; ') || error.name;
}
