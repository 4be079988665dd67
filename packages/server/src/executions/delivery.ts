import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../config.ts';
import { fail } from '../errors.ts';
import { type QuotaDefaults, quotaOf } from '../identity/quotas.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Delivery } from './admit-many.ts';
import { batchType, readBatch } from './batch.ts';
import {
  eventBatchType,
  eventType,
  isBinaryEvent,
  readBinaryEvent,
  readEvent,
  readEventBatch,
} from './cloud-events.ts';
import { fingerprintOf, readKey } from './idempotency.ts';
import { type Message, readMessage } from './message.ts';
import type { DeliveryLimits } from './quota-checks.ts';

/** What a request to an inbox says about its messages beyond one plain message: a key, a time, several at once, events. */

export type DeliverySettings = Pick<
  Config,
  'longest_delay' | 'batch_limit' | 'idempotency_window'
> &
  QuotaDefaults;

export interface AskedDelivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly url: string;
  /** The query parameters `message` and `delay`. */
  readonly queryMessage: unknown;
  readonly delay: unknown;
  readonly environment: Readonly<Record<string, string>>;
}

export interface ReadDelivery extends Pick<Delivery, 'items' | 'delaySeconds' | 'key'> {
  readonly messages: readonly Message[];
  /** It was sent as a list, and is answered as one. */
  readonly isBatch: boolean;
}

/** The type without its parameters. */
const typeOf = (contentType: string | undefined): string =>
  (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Whether a body of this type holds several messages. */
export function isBatchType(contentType: string | undefined): boolean {
  const type = typeOf(contentType);
  return type === batchType || type === eventBatchType;
}

/** Whether it is one message and nothing else, which takes the short way. Cheap, since every message is asked. */
export function isPlain(
  headers: IncomingHttpHeaders,
  delay: unknown,
  limits: DeliveryLimits | undefined,
): boolean {
  const type = headers['content-type'];
  return (
    delay === undefined &&
    limits === undefined &&
    headers['idempotency-key'] === undefined &&
    headers['ce-specversion'] === undefined &&
    headers['ce-id'] === undefined &&
    (type === undefined || !/^\s*application\/(x-ndjson|cloudevents)/i.test(type))
  );
}

/** The quotas of the reactor's owner that a message has to keep; undefined: there are none. */
export function limitsOf(reactor: Reactor, defaults: QuotaDefaults): DeliveryLimits | undefined {
  const waiting = quotaOf(reactor, 'waitingMessages', defaults);
  const stored = quotaOf(reactor, 'storedBytes', defaults);
  if (waiting === undefined && stored === undefined) return undefined;
  return {
    ownerId: reactor.ownerId,
    waitingMessages: waiting ?? Number.MAX_SAFE_INTEGER,
    storedBytes: stored ?? Number.MAX_SAFE_INTEGER,
  };
}

export async function readDelivery(
  asked: AskedDelivery,
  userId: string,
  settings: DeliverySettings,
): Promise<ReadDelivery> {
  const key = readKey(asked.headers['idempotency-key']);
  const delaySeconds = readDelay(asked.delay, settings.longest_delay);
  const { items, isBatch } = await readItems(asked, settings);
  return {
    items,
    messages: items.map(({ message }) => message),
    isBatch,
    delaySeconds,
    key:
      key === undefined
        ? undefined
        : {
            userId,
            key,
            fingerprint: fingerprintOf(whatWasAsked(asked)),
            keepSeconds: settings.idempotency_window,
          },
  };
}

interface Items {
  readonly items: readonly {
    readonly message: Message;
    readonly environment: Readonly<Record<string, string>>;
  }[];
  readonly isBatch: boolean;
}

async function readItems(asked: AskedDelivery, { batch_limit }: DeliverySettings): Promise<Items> {
  const { headers, body, queryMessage, environment } = asked;
  const type = typeOf(headers['content-type']);
  const isList = isBatchType(type);
  const isEvent = type === eventType || isBinaryEvent(headers);
  if ((isList || isEvent) && queryMessage !== undefined)
    throw invalid('message', 'stands in the address although there is a body: send one of them');
  const withRest = ({ message, environment: own }: Items['items'][number]) => ({
    message,
    environment: { ...environment, ...own },
  });
  if (type === eventBatchType)
    return { items: readEventBatch(body, batch_limit).map(withRest), isBatch: true };
  if (type === eventType) return { items: [withRest(readEvent(body))], isBatch: false };
  if (type === batchType) {
    const messages = readBatch(body, batch_limit);
    return { items: messages.map((message) => ({ message, environment })), isBatch: true };
  }
  if (isEvent) return { items: [withRest(readBinaryEvent(headers, body))], isBatch: false };
  const message = await readMessage({
    contentType: headers['content-type'],
    body,
    queryMessage,
  });
  return { items: [{ message, environment }], isBatch: false };
}

function readDelay(given: unknown, longest: number): number | undefined {
  if (given === undefined) return undefined;
  const seconds =
    typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
  if (!(seconds <= longest))
    throw invalid('delay', `takes a whole number of seconds from 0 to ${longest}`);
  return seconds;
}

/** The address with its query, the type, the event's attributes, the body: another one of these is another request. */
function whatWasAsked({ headers, body, url }: AskedDelivery): readonly (string | Uint8Array)[] {
  const attributes = Object.entries(headers)
    .filter(([name]) => name.startsWith('ce-'))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .sort();
  const query = url.slice(url.indexOf('?') + 1 || url.length);
  return [query, headers['content-type'] ?? '', attributes.join('\n'), body];
}

const invalid = (field: string, problem: string) => fail('invalid_field', { field, problem });
