import { readSchedule } from '../cron/schedule-text.ts';
import { ServiceError } from '../errors.ts';
import { RepeatedLook } from '../repeated-look.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';

/** A reactor whose time has come. */
export interface Due {
  readonly id: string;
  readonly ownerId: string;
  readonly schedule: string;
  readonly startAt: number | null;
  readonly dueAt: number;
}

export interface SchedulesParts {
  readonly store: Store;
  /**
   * Gives the reactor its message, in the name of its owner and in one unit with the statement. Rejects with a
   * ServiceError when the owner or the reactor may not have it.
   */
  readonly send: (due: Due, beside: Statement) => Promise<void>;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  readonly now?: () => number;
}

const lookMs = 1_000;
const mostAtOnce = 200;

/** The next time, unless somebody else has fired this one, or changed or ended the schedule, meanwhile. */
const advance = prepared((db, p: { id: string; dueAt: number; nextAt: number | null }) =>
  db
    .updateTable('reactors')
    .set({ cron_next_at: p.nextAt })
    .where('id', '=', p.id)
    .where('cron_next_at', '=', p.dueAt)
    .where('status', '!=', 'SHUTTING_DOWN'),
);

/**
 * Sends reactors the messages of their schedules. The message and the next time are one unit, which only one process can
 * win: each time is fired exactly once, also across a kill. Times that passed while nobody looked are fired once.
 */
export class Schedules {
  readonly #parts: SchedulesParts;
  readonly #now: () => number;
  readonly #looks = new RepeatedLook(() => this.#look());

  constructor(parts: SchedulesParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  start(): void {
    this.#looks.start(lookMs);
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Fires what is due. */
  look(): Promise<void> {
    return this.#looks.now();
  }

  async #look(): Promise<void> {
    try {
      const due = await this.#due();
      // Together, so that they share a commit.
      await Promise.all(due.map((one) => this.#fire(one)));
    } catch (error) {
      if (!this.#looks.isStopped) this.#parts.log.warn({ err: error }, 'firing schedules failed');
    }
  }

  async #due(): Promise<readonly Due[]> {
    const rows = await this.#parts.store.read
      .selectFrom('reactors')
      .select(['id', 'owner_id', 'cron_schedule', 'cron_start_at', 'cron_next_at'])
      .where('cron_next_at', 'is not', null)
      .where('cron_next_at', '<=', this.#now())
      .where('status', '!=', 'SHUTTING_DOWN')
      .orderBy('cron_next_at')
      .limit(mostAtOnce)
      .execute();
    return rows.map((row) => ({
      id: row.id,
      ownerId: row.owner_id,
      schedule: row.cron_schedule ?? '',
      startAt: row.cron_start_at,
      dueAt: row.cron_next_at ?? 0,
    }));
  }

  async #fire(due: Due): Promise<void> {
    const { store, send, log } = this.#parts;
    const { id, dueAt } = due;
    const nextAt = this.#after(due);
    const next = expectRows(advance({ id, dueAt, nextAt }), 1);
    try {
      await send(due, next);
      log.info({ reactor: id, due: new Date(dueAt).toISOString() }, 'schedule fired');
    } catch (error) {
      if (error instanceof UnexpectedRows) return;
      if (!(error instanceof ServiceError)) throw error;
      // Not now, and not again every second: the next time is another chance.
      log.warn({ reactor: id, reason: error.message }, 'schedule could not be fired');
      await store.write(advance({ id, dueAt, nextAt }));
    }
  }

  #after({ schedule, startAt }: Due): number | null {
    return readSchedule(schedule, startAt).after(this.#now()) ?? null;
  }
}
