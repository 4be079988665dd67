import { weight } from './sql-value.ts';
import type { BoundStatement, Result } from './statement.ts';
import { StoreUnavailable } from './store-errors.ts';

/** A statement that is ready to run. */
export interface UnitStatement extends BoundStatement {
  readonly expected: number | undefined;
}

export type BatchUnit = readonly UnitStatement[];

/** What came of one unit of a batch: a result per statement, or the reason why none of it was applied. */
export type Outcome = readonly Result[] | Error;

/** Called after each commit: how many units it carried and how long it took. */
export type OnCommit = (units: number, seconds: number) => void;

/** Runs the units in order in one transaction and resolves with an outcome for each; rejects when all of them failed. */
export type CommitBatch = (batch: readonly BatchUnit[]) => Promise<readonly Outcome[]>;

interface Waiting {
  readonly unit: BatchUnit;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: Error) => void;
}

/** A batch stays small enough that nobody waits long for strangers, and that its copy fits well into memory. */
const mostUnits = 1024;
const mostBytes = 8 * 1024 * 1024;

/**
 * Gathers the units that arrive while a commit is under way into the next one.
 * One commit at a time: so a slow disk makes bigger batches by itself, and units keep their order.
 */
export class GroupCommit {
  readonly #commit: CommitBatch;
  readonly #onCommit: OnCommit | undefined;
  readonly #waiting: Waiting[] = [];
  #busy = false;
  #closed = false;
  readonly #idle: (() => void)[] = [];

  constructor(commit: CommitBatch, onCommit: OnCommit | undefined) {
    this.#commit = commit;
    this.#onCommit = onCommit;
  }

  write(unit: BatchUnit): Promise<readonly Result[]> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('The store has been closed.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit, resolve, reject });
      if (this.#busy) return;
      this.#busy = true;
      this.#soon();
    });
  }

  /** Refuses new units and resolves when those that are here have been settled. */
  close(): Promise<void> {
    this.#closed = true;
    if (!this.#busy) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #soon(): void {
    // Not at once: the callers whose units have just been settled, and the requests of the same turn of the event
    // loop, come along in this batch.
    setImmediate(() => {
      if (this.#waiting.length > 0) void this.#run(this.#take());
      else this.#rest();
    });
  }

  #take(): Waiting[] {
    let units = 0;
    let bytes = 0;
    for (const { unit } of this.#waiting) {
      if (units === mostUnits || (units > 0 && bytes >= mostBytes)) break;
      units += 1;
      for (const { values } of unit) for (const value of values) bytes += weight(value);
    }
    return this.#waiting.splice(0, units);
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    const start = performance.now();
    try {
      const outcomes = await this.#commit(batch.map(({ unit }) => unit));
      this.#onCommit?.(batch.length, (performance.now() - start) / 1000);
      for (const [place, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[place] ?? new StoreUnavailable('The store gave no answer.');
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      }
    } catch (error) {
      const reason = error instanceof Error ? error : new StoreUnavailable(String(error));
      for (const { reject } of batch) reject(reason);
    }
    this.#soon();
  }

  #rest(): void {
    this.#busy = false;
    for (const idle of this.#idle.splice(0)) idle();
  }
}
