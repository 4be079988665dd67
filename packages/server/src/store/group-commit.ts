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

/** Called after each commit: how many units it carried (the empty ones of pings do not count) and how long it took. */
export type OnCommit = (units: number, seconds: number) => void;

interface Waiting {
  readonly unit: BatchUnit;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: Error) => void;
}

/** Runs the units in order in one transaction each time it is called, first come, first served. */
export interface BatchCommitter {
  /** Resolves with an outcome for each unit; rejects when all of them failed. */
  commit(batch: readonly BatchUnit[]): Promise<readonly Outcome[]>;
  /** Whether a second batch may be handed over while one is under way. */
  readonly overlaps: boolean;
}

/** A batch stays small enough that nobody waits long for strangers, and that its copy fits well into memory. */
const mostUnits = 1024;
const mostBytes = 8 * 1024 * 1024;
/**
 * Where batches overlap, so many make one: more would only keep the other side waiting. Fewer wait for the batch before
 * them: callers that wait for their answers, a few dozen of them, then fall into two halves, of which one is committed
 * while the other is served. In more and smaller batches they would pay for more commits.
 */
const unitsOverlapping = 128;

/**
 * Gathers the units that arrive while a commit is under way into the next one. So a slow disk makes bigger batches
 * by itself, and units keep their order.
 */
export class GroupCommit {
  readonly #committer: BatchCommitter;
  readonly #onCommit: OnCommit | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #idle: (() => void)[] = [];
  #underWay = 0;
  /** How many of those that wait are half of all callers; undefined: nobody waited while the last batch was committed. */
  #half: number | undefined;
  #scheduled = false;
  #closed = false;

  constructor(committer: BatchCommitter, onCommit: OnCommit | undefined) {
    this.#committer = committer;
    this.#onCommit = onCommit;
  }

  write(unit: BatchUnit): Promise<readonly Result[]> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('The store has been closed.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit, resolve, reject });
      if (this.#hasRoom) this.#schedule();
    });
  }

  /** Refuses new units and resolves when those that are here have been settled. */
  close(): Promise<void> {
    this.#closed = true;
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#schedule();
    });
  }

  get #hasRoom(): boolean {
    if (this.#underWay === 0) return true;
    return (
      this.#underWay === 1 && this.#committer.overlaps && this.#waiting.length >= unitsOverlapping
    );
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Not at once: the callers whose units have just been settled, and the requests of the same turn of the event
    // loop, come along in this batch.
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#hasRoom) void this.#run(this.#take());
      if (this.#underWay === 0) for (const idle of this.#idle.splice(0)) idle();
    });
  }

  #take(): Waiting[] {
    const most = this.#most();
    let units = 0;
    let bytes = 0;
    for (const { unit } of this.#waiting) {
      if (units === most || (units > 0 && bytes >= mostBytes)) break;
      units += 1;
      for (const { values } of unit) for (const value of values) bytes += weight(value);
    }
    return this.#waiting.splice(0, units);
  }

  #most(): number {
    const half = this.#half;
    this.#half = undefined;
    if (!this.#committer.overlaps) return mostUnits;
    if (half === undefined) return unitsOverlapping;
    return Math.min(unitsOverlapping, Math.max(half, Math.ceil(this.#waiting.length / 2)));
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    const start = performance.now();
    this.#underWay += 1;
    try {
      const outcomes = await this.#committer.commit(batch.map(({ unit }) => unit));
      this.#report(batch, start);
      settle(batch, outcomes);
    } catch (error) {
      const reason = error instanceof Error ? error : new StoreUnavailable(String(error));
      for (const { reject } of batch) reject(reason);
    }
    this.#underWay -= 1;
    // The callers of those that were settled come back with as many. Halves of unequal size would stay so, and then
    // this side idles while the larger one is committed.
    const waiting = this.#waiting.length;
    this.#half = waiting === 0 ? undefined : Math.ceil((batch.length + waiting) / 2);
    this.#schedule();
  }

  #report(batch: readonly Waiting[], start: number): void {
    const units = batch.reduce((sum, { unit }) => (unit.length > 0 ? sum + 1 : sum), 0);
    if (units > 0) this.#onCommit?.(units, (performance.now() - start) / 1000);
  }
}

function settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
  for (const [place, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[place] ?? new StoreUnavailable('The store gave no answer.');
    if (outcome instanceof Error) reject(outcome);
    else resolve(outcome);
  }
}
