import { sql } from 'kysely';
import { expectRows, prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import { nowInMicroseconds } from './execution-time.ts';
import { delayedFrom } from './places.ts';

interface Parts {
  readonly store: Store;
  /** The reactor may have something to run now. */
  readonly wake: (reactorId: string) => void;
  readonly log: { warn(facts: object, message: string): void };
}

/** For what other processes have accepted, and for whatever was overlooked. */
const lookMs = 5_000;
/** One step: its commits are shared, and others come between two of them. */
const stepRows = 500;

const takePlace = prepared((db, p: { reactorId: string }) =>
  db
    .updateTable('reactors')
    .set((eb) => ({ last_seq: eb('last_seq', '+', 1), delayed: eb('delayed', '-', 1) }))
    .where('id', '=', p.reactorId),
);

/** The statement before it in the unit has made the place. */
const putInOrder = prepared((db, p: { id: string; reactorId: string }) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      due_at: null,
      seq: eb.selectFrom('reactors').select('last_seq').where('reactors.id', '=', p.reactorId),
    }))
    .where('id', '=', p.id)
    .where('seq', '>=', sql.lit(delayedFrom))
    .where('due_at', 'is not', null)
    .where('status', '=', sql.lit<'SUBMITTED'>('SUBMITTED')),
);

/**
 * Looks after what waits for its time. A delayed message takes the next place in its reactor's order when its time has
 * come, as if it arrived then; one that kept its place is only said to be due. Every process looks; the store
 * decides who was first.
 */
export class DueMessages {
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer rings, in milliseconds. */
  #rings = Number.POSITIVE_INFINITY;
  #open = false;
  #working = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#open = true;
    this.#ringAt(Date.now());
  }

  stop(): void {
    this.#open = false;
    clearTimeout(this.#timer);
  }

  /** Something is to be run at this time. */
  expect(dueAt: number): void {
    this.#ringAt(dueAt / 1000);
  }

  #ringAt(wished: number): void {
    // Later ones are found when it is their turn.
    const at = Math.min(wished, Date.now() + lookMs);
    if (!this.#open || at >= this.#rings) return;
    clearTimeout(this.#timer);
    this.#rings = at;
    this.#timer = setTimeout(() => void this.#ring(), Math.max(0, Math.ceil(at - Date.now()) + 1));
    this.#timer.unref();
  }

  async #ring(): Promise<void> {
    this.#rings = Number.POSITIVE_INFINITY;
    if (!this.#working) {
      this.#working = true;
      try {
        await this.#look();
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'looking for messages whose time has come failed');
      }
      this.#working = false;
    }
    this.#ringAt(Date.now() + lookMs);
  }

  async #look(): Promise<void> {
    while (this.#open) {
      const now = nowInMicroseconds();
      const rows = await this.#soon(now)
        .where('seq', '>=', delayedFrom)
        .orderBy('due_at')
        .orderBy('seq')
        .limit(stepRows)
        .execute();
      const due = rows.filter(({ due_at }) => (due_at ?? 0) <= now);
      await Promise.all(due.map((row) => this.#putInOrder(row.id, row.reactor_id)));
      this.#tell(rows, now);
      if (due.length < stepRows) return this.#lookAtPlaces(now);
    }
  }

  /** Those that kept their places; the ones that could not run when they were due are found as all that waits is. */
  async #lookAtPlaces(now: number): Promise<void> {
    const rows = await this.#soon(now)
      .where('seq', '<', delayedFrom)
      .where('due_at', '>', now - 2 * lookMs * 1000)
      .orderBy('due_at')
      .limit(stepRows)
      .execute();
    this.#tell(rows, now);
  }

  #soon(now: number) {
    return this.#parts.store.read
      .selectFrom('executions')
      .select(['id', 'reactor_id', 'due_at'])
      .where('due_at', 'is not', null)
      .where('due_at', '<=', now + lookMs * 1000);
  }

  #tell(rows: readonly { reactor_id: string; due_at: number | null }[], now: number): void {
    const woken = new Set<string>();
    for (const { reactor_id, due_at } of rows) {
      if ((due_at ?? 0) <= now) woken.add(reactor_id);
      else this.expect(due_at ?? 0);
    }
    for (const reactorId of woken) this.#parts.wake(reactorId);
  }

  async #putInOrder(id: string, reactorId: string): Promise<void> {
    try {
      await this.#parts.store.write(
        expectRows(takePlace({ reactorId }), 1),
        expectRows(putInOrder({ id, reactorId }), 1),
      );
    } catch (error) {
      // Another process was first, or it was dropped.
      if (!(error instanceof UnexpectedRows)) throw error;
    }
  }
}
