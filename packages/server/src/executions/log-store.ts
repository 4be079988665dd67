import { setTimeout as pause } from 'node:timers/promises';
import type { OutputStream } from '../engines/engine.ts';
import type { Store } from '../store/store.ts';
import { toAttempt } from './log-attempt.ts';
import { expireLog, findAmong, findExpired, findUnended, removeLog } from './log-expiry.ts';
import { type LogPart, partsOf } from './log-lines.ts';
import { findChunk, findLog, type KeptLog } from './log-rows.ts';
import { findTail } from './log-tail.ts';
import { type LogOptions, type LogWriter, StoredLogWriter } from './log-writer.ts';

export type { LogOptions, LogWriter } from './log-writer.ts';

const releaseMilliseconds = 2000;

/** The output of every execution, in a database of its own. */
export class LogStore {
  readonly #store: Store;
  readonly #writers = new Map<string, StoredLogWriter>();
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Begins a log, or goes on with one where its last writer, perhaps of an earlier process, has stopped. */
  async open(executionId: string, options: LogOptions): Promise<LogWriter> {
    await this.#writers.get(executionId)?.release();
    const kept = await toAttempt(this.#store, executionId, options.attempt ?? 1);
    const lastChunk =
      kept === undefined ? undefined : await findChunk(this.#store, executionId, kept.size);
    const writer: StoredLogWriter = new StoredLogWriter({
      store: this.#store,
      executionId,
      options,
      kept,
      lastChunk,
      onStep: (done) => {
        if (done && this.#writers.get(executionId) === writer) this.#writers.delete(executionId);
        for (const listener of this.#listeners.get(executionId) ?? []) listener();
      },
    });
    this.#writers.set(executionId, writer);
    return writer;
  }

  find(executionId: string): Promise<KeptLog | undefined> {
    return findLog(this.#store, executionId);
  }

  /** Whether this process writes the log, and so hears of each step. */
  isWrittenHere(executionId: string): boolean {
    return this.#writers.has(executionId);
  }

  /** Calls whenever more of the log is durable. Returns the way to stop that. */
  onMore(executionId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(executionId) ?? new Set();
    this.#listeners.set(executionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(executionId) === listeners) {
        this.#listeners.delete(executionId);
      }
    };
  }

  /**
   * The log from one place to another, chunk by chunk: the next is read when the last has been used. It ends early
   * when the log is dropped meanwhile.
   */
  async *read(executionId: string, from: number, to: number): AsyncGenerator<LogPart> {
    for (let place = from; place < to; ) {
      const chunk = await findChunk(this.#store, executionId, place);
      if (chunk === undefined || chunk.start + chunk.body.length <= place) return;
      yield* partsOf(chunk, place, to);
      place = chunk.start + chunk.body.length;
    }
  }

  /** The place from which on there are this many lines of the stream, or of both. */
  tail(executionId: string, lines: number, stream?: OutputStream): Promise<number> {
    return findTail(this.#store, executionId, lines, stream);
  }

  /** Logs whose time is over, those first that have waited longest. */
  expired(now: number, limit: number): Promise<readonly string[]> {
    return findExpired(this.#store, now, limit);
  }

  /** Logs that nobody has ended, in the order of their ids. */
  unended(after: string, limit: number): Promise<readonly string[]> {
    return findUnended(this.#store, after, limit);
  }

  /** Sets the end of a log that nobody has ended: its writer is gone for good. */
  async expire(executionId: string, at: number): Promise<void> {
    await this.#store.write(expireLog({ id: executionId, at }));
  }

  /** Which of these executions have a log. */
  among(executionIds: readonly string[]): Promise<readonly string[]> {
    return findAmong(this.#store, executionIds);
  }

  /** Forgets logs, and everything in them. */
  async drop(executionIds: readonly string[]): Promise<void> {
    for (const executionId of executionIds) await removeLog(this.#store, executionId);
  }

  /** Makes durable what the writers have, and lets go of the database. Containers may run on. */
  async close(): Promise<void> {
    const writers = [...this.#writers.values()];
    const released = Promise.allSettled(writers.map((writer) => writer.release()));
    // A database that is away must not keep the service from stopping; the containers' output is read again.
    await Promise.race([released, pause(releaseMilliseconds, undefined, { ref: false })]);
    for (const writer of writers) writer.abandon();
    await this.#store.close();
  }
}
