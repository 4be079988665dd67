import { sql } from 'kysely';
import { RepeatedLook } from '../repeated-look.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import { isUnderWay, lastEnd } from './idle-time.ts';
import type { Reactors } from './reactors.ts';
import { type Removal, service } from './removal.ts';

export interface IdleReactorsParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'commit'>;
  readonly removal: Pick<Removal, 'finish'>;
  /** Undefined: idle reactors stay. */
  readonly limitMs: number | undefined;
  /** Keeps that it was removed; part of the unit in which that is decided. */
  readonly noteIdleRemoval: (reactorId: string) => Statement;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  readonly now?: () => number;
}

/** Idle, as far as a look at it told. */
interface Seen {
  readonly id: string;
  readonly updatedAt: number;
  /** Every message that is accepted raises it. */
  readonly messages: number;
}

const leastLookMs = 500;
const mostLookMs = 60_000;
const looksPerLimit = 10;
const mostAtOnce = 100;

/**
 * Only if it is as it was seen: a message that was accepted meanwhile, or a change, keeps it; one that comes later meets
 * a reactor that is being deleted. Of several processes one wins. The last condition reads all its records, which is
 * why it is asked here, for the few that are about to go.
 */
const markIdle = prepared((db, p: Seen & { endedBefore: number; now: number }) =>
  db
    .updateTable('reactors')
    .set({ status: 'SHUTTING_DOWN', status_message: '', updated_at: p.now, tended_at: p.now })
    .where('id', '=', p.id)
    .where('status', '!=', 'SHUTTING_DOWN')
    .where('remove_when_idle', '=', 1)
    .where('updated_at', '=', p.updatedAt)
    .where('total_executions', '=', p.messages)
    .where('cron_next_at', 'is', null)
    .where((eb) => eb.not(isUnderWay(eb)))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('executions')
            .select('executions.id')
            .whereRef('executions.reactor_id', '=', 'reactors.id')
            .where('executions.finished_at', '>', p.endedBefore),
        ),
      ),
    ),
);

/** Removes reactors that asked for it when nobody has used them for a while, as DELETE does. */
export class IdleReactors {
  readonly #parts: IdleReactorsParts;
  readonly #now: () => number;
  readonly #looks = new RepeatedLook(() => this.#look());

  constructor(parts: IdleReactorsParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  start(): void {
    const { limitMs } = this.#parts;
    if (limitMs === undefined) return;
    this.#looks.start(Math.min(mostLookMs, Math.max(leastLookMs, limitMs / looksPerLimit)));
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  look(): Promise<void> {
    return this.#looks.now();
  }

  async #look(): Promise<void> {
    const { limitMs, log } = this.#parts;
    if (limitMs === undefined) return;
    try {
      const before = this.#now() - limitMs;
      for (const seen of await this.#idleBefore(before)) {
        if (this.#looks.isStopped) return;
        await this.#remove(seen, before);
      }
    } catch (error) {
      if (!this.#looks.isStopped) log.warn({ err: error }, 'looking for idle reactors failed');
    }
  }

  async #idleBefore(before: number): Promise<readonly Seen[]> {
    const rows = await this.#parts.store.read
      .selectFrom('reactors')
      .select(['id', 'updated_at', 'total_executions'])
      // Written out: only then the index of the few that are marked fits.
      .where('remove_when_idle', '=', sql.lit(1))
      .where('updated_at', '<=', before)
      .where('status', '!=', 'SHUTTING_DOWN')
      .where('cron_next_at', 'is', null)
      .where((eb) => eb.not(isUnderWay(eb)))
      .where((eb) => eb(lastEnd(eb), '<=', before * 1000))
      .orderBy('updated_at')
      .limit(mostAtOnce)
      .execute();
    return rows.map(({ id, updated_at, total_executions }) => ({
      id,
      updatedAt: updated_at,
      messages: total_executions,
    }));
  }

  async #remove(seen: Seen, before: number): Promise<void> {
    const { reactors, removal, noteIdleRemoval, log } = this.#parts;
    const { id } = seen;
    const mark = markIdle({ ...seen, endedBefore: before * 1000, now: this.#now() });
    try {
      await reactors.commit(id, expectRows(mark, 1), noteIdleRemoval(id));
    } catch (error) {
      // It was used at the last moment, or another process was faster.
      if (error instanceof UnexpectedRows) return;
      throw error;
    }
    log.info({ reactor: id }, 'idle reactor is removed');
    // What must be stopped or dropped is nothing; should it fail, it is tried again.
    void removal.finish(id, service);
  }
}
