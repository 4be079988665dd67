import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';

/** What routes that answer with a stream of events have in common. */

export function sendEvents(reply: FastifyReply, events: AsyncIterable<Buffer>): FastifyReply {
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(boundedStream(events));
}

/** Not in object mode, which would gather sixteen chunks of any size ahead of a slow client. */
export const boundedStream = (pieces: AsyncIterable<Buffer>): Readable =>
  Readable.from(pieces, { objectMode: false, highWaterMark: 64 * 1024 });

export function whenLeft(reply: FastifyReply): AbortSignal {
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  return left.signal;
}

/** What a client that has lost its connection sends by itself. */
export function readLastEvent(request: FastifyRequest): number | undefined {
  const given = request.headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw fail('invalid_field', { field: 'Last-Event-ID', problem: 'takes the id of an event' });
}
