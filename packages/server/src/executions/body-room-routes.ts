import type { FastifyInstance } from 'fastify';
import { fail } from '../errors.ts';

/** Smaller bodies are not counted: there are never so many at once that they would matter. */
const largeBytes = 1024 * 1024;

/** How much memory large bodies may take while they arrive and are stored. */
export class BodyRoom {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the way to give it back. */
  take(bytes: number): () => void {
    if (this.#taken > 0 && this.#taken + bytes > this.#most)
      throw fail('busy').withHeaders({ 'retry-after': '5' });
    this.#taken += bytes;
    return () => {
      this.#taken -= bytes;
    };
  }
}

/** Refuses a large body, before a byte of it is read, while others take up the room. */
export function limitLargeBodies(app: FastifyInstance, room: BodyRoom, limit: number): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers } = request;
    const length = headers['content-length'];
    // One that does not say how long it is may be as long as any.
    const bytes = length === undefined ? limit : Number(length);
    const hasNone = length === undefined && headers['transfer-encoding'] === undefined;
    if (hasNone || bytes < largeBytes || bytes > limit) return done();
    try {
      reply.raw.once('close', room.take(bytes));
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
