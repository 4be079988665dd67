import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import { forgetKeys, forgetLetters, removeRecords } from './delivery-retention.ts';
import type { LogStore } from './log-store.ts';
import type { Results } from './results.ts';

export interface RetentionParts {
  readonly store: Store;
  readonly logs: Pick<LogStore, 'expired' | 'unended' | 'expire' | 'among' | 'drop'>;
  readonly results: Pick<Results, 'old' | 'ofReactor' | 'drop'>;
  readonly config: {
    /** Seconds. */
    readonly log_retention: number;
    readonly result_retention: number;
    readonly execution_retention: number;
    readonly dead_letter_retention: number;
  };
  readonly log: { warn(facts: object, message: string): void };
  readonly now?: () => number;
}

/** Small steps with room between them: others' commits come first. */
const rowsAtOnce = 100;
const bytesAtOnce = 4 * 1024 * 1024;
const breathMilliseconds = 5;
const roundMilliseconds = 60_000;

/** Removes what is too old to be kept: logs and results first, records and messages much later. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #now: () => number;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  start(): void {
    void this.round();
    this.#timer = setInterval(() => void this.round(), roundMilliseconds);
    this.#timer.unref();
  }

  /** Resolves when the step under way is done. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#work;
  }

  /** Removes everything whose time is over. */
  round(): Promise<void> {
    return this.#queue('removing what is too old failed', async () => {
      await this.#endForgottenLogs();
      await this.#removeLogs();
      await this.#removeResults();
      await this.#removeRecords();
      await this.#forgetDeliveries();
    });
  }

  /** A reactor is gone: its logs and results go too. Its records stay until they are too old. */
  forgetReactor(reactorId: string): Promise<void> {
    return this.#queue('removing the logs of a deleted reactor failed', async () => {
      await this.#dropResults(() => this.#parts.results.ofReactor(reactorId, rowsAtOnce));
      for (let seq = 0; ; ) {
        const rows = await this.#parts.store.read
          .selectFrom('executions')
          .select(['id', 'seq'])
          .where('reactor_id', '=', reactorId)
          .where('seq', '>', seq)
          .orderBy('seq')
          .limit(rowsAtOnce)
          .execute();
        await this.#drop(await this.#parts.logs.among(rows.map(({ id }) => id)));
        const last = rows.at(-1);
        if (last === undefined || this.#stopping.signal.aborted) return;
        seq = last.seq;
        await this.#breathe();
      }
    });
  }

  /** One after the other, so that they are one load on the store and not many. */
  #queue(complaint: string, work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#stopping.signal.aborted) return;
      try {
        await work();
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#parts.log.warn({ err: error }, complaint);
      }
    });
    return this.#work;
  }

  async #removeLogs(): Promise<void> {
    for (;;) {
      const expired = await this.#parts.logs.expired(this.#now(), rowsAtOnce);
      await this.#drop(expired);
      if (expired.length < rowsAtOnce || this.#stopping.signal.aborted) return;
    }
  }

  async #removeResults(): Promise<void> {
    const before = this.#now() - this.#parts.config.result_retention * 1000;
    await this.#dropResults(() => this.#parts.results.old(before, rowsAtOnce));
  }

  async #dropResults(find: () => Promise<readonly string[]>): Promise<void> {
    for (;;) {
      const found = await find();
      for (const executionId of found) {
        if (this.#stopping.signal.aborted) return;
        await this.#parts.results.drop(executionId);
        await this.#breathe();
      }
      if (found.length < rowsAtOnce) return;
    }
  }

  /** A log stays open when its container was lost with its machine; its execution is over all the same. */
  async #endForgottenLogs(): Promise<void> {
    const { store, logs, config } = this.#parts;
    for (let after = ''; ; ) {
      const open = await logs.unended(after, rowsAtOnce);
      const last = open.at(-1);
      if (last === undefined || this.#stopping.signal.aborted) return;
      const rows = await store.read
        .selectFrom('executions')
        .select('id')
        .where('id', 'in', open)
        .where('status', 'in', ['SUBMITTED', 'RUNNING'])
        .execute();
      const live = new Set(rows.map(({ id }) => id));
      const at = this.#now() + config.log_retention * 1000;
      for (const id of open) if (!live.has(id)) await logs.expire(id, at);
      after = last;
      await this.#breathe();
    }
  }

  async #forgetDeliveries(): Promise<void> {
    const { store, config } = this.#parts;
    const now = this.#now();
    const before = (now - config.dead_letter_retention * 1000) * 1000;
    for (const step of [() => forgetKeys(store, now), () => forgetLetters(store, before)]) {
      while (!this.#stopping.signal.aborted && (await step())) await this.#breathe();
    }
  }

  async #removeRecords(): Promise<void> {
    const { store, config } = this.#parts;
    // In microseconds, as the times of executions are.
    const before = (this.#now() - config.execution_retention * 1000) * 1000;
    for (;;) {
      const old = await store.read
        .selectFrom('executions')
        .select(['id', 'message_size'])
        .where('finished_at', '<', before)
        .orderBy('finished_at')
        .limit(rowsAtOnce)
        .execute();
      const step = firstOf(old);
      if (step.length === 0 || this.#stopping.signal.aborted) return;
      // The logs before the records: nothing would find them afterwards.
      await this.#drop(await this.#parts.logs.among(step));
      await store.write(...removeRecords(step));
      await this.#breathe();
    }
  }

  async #drop(executionIds: readonly string[]): Promise<void> {
    for (const executionId of executionIds) {
      if (this.#stopping.signal.aborted) return;
      await this.#parts.logs.drop([executionId]);
      await this.#breathe();
    }
  }

  async #breathe(): Promise<void> {
    await pause(breathMilliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

/** As many as make no large commit; at least one. */
function firstOf(rows: readonly { id: string; message_size: number }[]): string[] {
  let bytes = 0;
  const ids: string[] = [];
  for (const { id, message_size } of rows) {
    bytes += message_size;
    if (ids.length > 0 && bytes > bytesAtOnce) break;
    ids.push(id);
  }
  return ids;
}
