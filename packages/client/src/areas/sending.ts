import type { Api, CallOptions } from '../api.ts';
import type { PostedBatch, PostedMessage } from '../generated/api.ts';
import type { Query } from '../http/address.ts';
import { resultOf } from '../http/replies.ts';
import type { SentBody } from '../http/transport.ts';
import { base64 } from '../tokens/base64.ts';
import { randomText } from '../tokens/pkce.ts';

/**
 * Text is delivered as it is; bytes, blobs and streams as bytes; everything else as JSON. Of JSON that is an object with a
 * field `message`, the service delivers that text alone.
 */
export type Message = string | Bytes | Json;
type Bytes = Uint8Array<ArrayBuffer> | ArrayBuffer | Blob | ReadableStream<Uint8Array>;
type Json = number | boolean | null | readonly unknown[] | { readonly [name: string]: unknown };

export interface SendOptions extends CallOptions {
  /** Variables of this one execution, over those of the reactor. */
  readonly environment?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** After how many seconds the message enters the order of receipt. */
  readonly delay?: number | undefined;
  /** Of your own, where the same message may be sent by another process too; false: none. */
  readonly idempotencyKey?: string | false | undefined;
  /** Instead of the one that goes with the kind of message. */
  readonly contentType?: string | undefined;
}

export interface WaitOptions {
  /** For how many seconds; true: as long as the service allows. */
  readonly wait: number | true;
}

/** What an execution has answered to a sender who waited. */
export interface AnsweredMessage {
  readonly executionId: string;
  /** False when the time has passed first: the execution goes on. */
  readonly answered: boolean;
  readonly status?: string;
  readonly exitCode?: number;
  /** The first result, where it gave one. */
  readonly result?: Uint8Array<ArrayBuffer>;
  /** Its log, where it ended without a result. */
  readonly log?: string;
}

/** https://cloudevents.io, in its JSON form; `data` may be bytes. */
export interface CloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly specversion?: string;
  readonly data?: unknown;
  readonly [attribute: string]: unknown;
}

/** What the service waits at most, for those who say no number. */
const longestWaitMs = 300_000;

type Wish = SendOptions & { readonly wait?: number | true | undefined };

export function sendOne(
  api: Api,
  reactorId: string,
  message: Message,
  options: Wish,
): Promise<PostedMessage | AnsweredMessage> {
  const { body, type } = encode(message);
  const call = callOf(reactorId, body, options.contentType ?? type, options);
  const { wait } = options;
  if (wait === undefined) return api.read('POST /actors/v2/{reactorId}/messages', call, resultOf);
  return wait === true
    ? ask(api, call, { _svc_synchronous: true }, longestWaitMs)
    : askFor(api, call, wait);
}

/** In pieces, since Node gives up a request after five minutes without an answer; by its key it is the same message. */
async function askFor(api: Api, call: MessageCall, seconds: number): Promise<AnsweredMessage> {
  for (let left = seconds; ; left -= longestPiece) {
    const piece = call.repeating === 'safe' ? Math.min(left, longestPiece) : left;
    const answer = await ask(api, call, { wait: piece }, piece * 1000);
    if (answer.answered || piece === left) return answer;
  }
}

const longestPiece = 240;

function ask(api: Api, call: MessageCall, query: Query, extraMs: number): Promise<AnsweredMessage> {
  const held = {
    ...call,
    query: { ...call.query, ...query },
    headers: { ...call.headers, accept: '*/*' },
    extraMs,
  };
  return api.read('POST /actors/v2/{reactorId}/messages', held, readAnswer);
}

export function sendMany(
  api: Api,
  reactorId: string,
  messages: Iterable<unknown>,
  options: SendOptions,
): Promise<PostedBatch> {
  const lines = [...messages].map((message) => `${JSON.stringify(message)}\n`).join('');
  const call = callOf(reactorId, lines, 'application/x-ndjson', options);
  return api.read('POST /actors/v2/{reactorId}/messages', call, resultOf);
}

export function sendCloudEvents<Answer>(
  api: Api,
  reactorId: string,
  events: CloudEvent | readonly CloudEvent[],
  options: SendOptions,
): Promise<Answer> {
  const isBatch = isMany(events);
  const body = JSON.stringify(isBatch ? events.map(inJson) : inJson(events));
  const type = `application/cloudevents${isBatch ? '-batch' : ''}+json`;
  const call = callOf(reactorId, body, type, options);
  return api.read('POST /actors/v2/{reactorId}/messages', call, resultOf);
}

const isMany = (events: CloudEvent | readonly CloudEvent[]): events is readonly CloudEvent[] =>
  Array.isArray(events);

function inJson({ data, ...attributes }: CloudEvent): object {
  const event = { specversion: '1.0', ...attributes };
  if (data === undefined) return event;
  return data instanceof Uint8Array ? { ...event, data_base64: base64(data) } : { ...event, data };
}

type MessageCall = ReturnType<typeof callOf>;

function callOf(reactorId: string, body: SentBody, type: string, options: Wish) {
  const { environment = {}, delay, idempotencyKey, signal, timeoutMs } = options;
  // Not randomUUID, which pages have only over TLS.
  const key = idempotencyKey ?? randomText();
  const query: Query = { ...environment, delay };
  return {
    path: { reactorId },
    query,
    body,
    headers: { 'content-type': type, ...(key !== false && { 'idempotency-key': key }) },
    repeating: repeatingOf(body, key !== false),
    options: { signal, timeoutMs },
  } as const;
}

function repeatingOf(body: SentBody, hasKey: boolean): 'safe' | 'unsafe' | 'impossible' {
  if (body instanceof ReadableStream) return 'impossible';
  return hasKey ? 'safe' : 'unsafe';
}

function encode(message: Message): { readonly body: SentBody; readonly type: string } {
  if (typeof message === 'string') return { body: message, type: 'text/plain; charset=utf-8' };
  const isBytes =
    message instanceof Uint8Array ||
    message instanceof ArrayBuffer ||
    message instanceof Blob ||
    message instanceof ReadableStream;
  if (isBytes) return { body: message, type: 'application/octet-stream' };
  const text = JSON.stringify(message);
  if (text === undefined)
    throw new TypeError('message: takes text, bytes, or something that can be JSON');
  return { body: text, type: 'application/json' };
}

async function readAnswer(reply: Response): Promise<AnsweredMessage> {
  const { headers } = reply;
  if (reply.status !== 200) {
    const { executionId } = await resultOf(reply);
    return { executionId, answered: false };
  }
  const exitCode = headers.get('x-exit-code');
  const about = {
    executionId: headers.get('x-execution-id') ?? '',
    answered: true,
    status: headers.get('x-execution-status') ?? '',
    ...(exitCode !== null && { exitCode: Number(exitCode) }),
  };
  return headers.get('content-type')?.startsWith('application/octet-stream')
    ? { ...about, result: new Uint8Array(await reply.arrayBuffer()) }
    : { ...about, log: await reply.text() };
}
