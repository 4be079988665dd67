import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Answer, AnswerWaiting } from './answer-waiting.ts';
import type { Posted } from './inbox-delivery.ts';
import type { LogStore } from './log-store.ts';
import { logText } from './log-text.ts';

export interface InboxWaitingParts {
  readonly waiting: Pick<AnswerWaiting, 'enter'>;
  readonly logs: LogStore;
}

/** The reply to a post that nobody waits for any longer. */
export function sendPosted(reply: FastifyReply, { posted, repeated }: Posted): FastifyReply {
  if (repeated) reply.header('idempotency-replayed', 'true');
  if ('self' in posted._links) reply.header('location', posted._links.self);
  return reply.code(201).send(posted);
}

/** Posts by `post`, holds the reply, and sends the answer; or, when the time has passed, the reply that it would have been. */
export async function postAndWait(
  { waiting, logs }: InboxWaitingParts,
  reply: FastifyReply,
  seconds: number,
  post: () => Promise<Posted>,
): Promise<FastifyReply> {
  const place = waiting.enter();
  try {
    const accepted = await post();
    const { posted } = accepted;
    if ('executionIds' in posted) return sendPosted(reply, accepted);
    const { executionId } = posted;
    reply.header('location', posted._links.self).header('x-execution-id', executionId);
    const left = whenLeft(reply);
    const answer = await place.answer(executionId, seconds, left);
    if (answer === undefined) return sendPosted(reply, accepted);
    return sendAnswer(logs, reply, answer);
  } finally {
    place.leave();
  }
}

function sendAnswer(logs: LogStore, reply: FastifyReply, { execution, result }: Answer) {
  const { id, status, exitCode } = execution;
  reply.code(200).header('cache-control', 'no-store').header('x-execution-status', status);
  if (exitCode !== null) reply.header('x-exit-code', exitCode);
  if (result !== undefined)
    return reply.type('application/octet-stream').send(Buffer.from(result.body));
  const text = logText(logs, id, { stream: undefined, tail: undefined });
  return reply
    .type('text/plain; charset=utf-8')
    .send(Readable.from(bytesOf(text), { objectMode: false, highWaterMark: 64 * 1024 }));
}

async function* bytesOf(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of text) yield Buffer.from(piece);
}

function whenLeft(reply: FastifyReply): AbortSignal {
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  return left.signal;
}
