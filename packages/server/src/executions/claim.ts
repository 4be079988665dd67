import { sql } from 'kysely';
import { newId } from '../ids.ts';
import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { type Execution, executionFrom } from './execution.ts';
import { nowInMicroseconds } from './execution-time.ts';
import { delayedFrom } from './places.ts';

// Literals and not parameters: only so do the partial indexes fit, and only with them does a claim cost the same
// whether one message waits or a million.
const submitted = sql.lit<'SUBMITTED'>('SUBMITTED');
const running = sql.lit<'RUNNING'>('RUNNING');
/** Behind it are those that are not in the order yet. */
const endOfOrder = sql.lit(delayedFrom);

/**
 * Takes the oldest message of a reactor, in one statement that two workers cannot both win.
 *
 * The order of starts is in it too: it takes the oldest that has not started, or nothing when somebody has claimed that
 * one. So the next can be claimed only once the one before it runs, whatever process runs it. On PostgreSQL two
 * statements at the same time choose the same row; the second waits for the first and then finds `worker_id` set.
 * Room is counted in the same statement: whoever made it wrong in the meantime has also taken the row.
 * One that is to be tried again later keeps its place, and those behind it wait with it.
 */
const claimOldest = prepared(
  (
    db,
    p: {
      reactorId: string;
      workerId: string;
      instance: string;
      spare: string | null;
      now: number;
    },
  ) =>
    db
      .updateTable('executions')
      .set((eb) => ({
        worker_id: p.workerId,
        instance: p.instance,
        claimed_at: p.now,
        spare: p.spare,
        due_at: null,
        revision: eb.selectFrom('reactors').select('revision').where('id', '=', p.reactorId),
      }))
      .where('id', '=', (eb) =>
        eb
          .selectFrom('executions as oldest')
          .select('oldest.id')
          .where('oldest.reactor_id', '=', p.reactorId)
          .where('oldest.status', '=', submitted)
          .where('oldest.seq', '<', endOfOrder)
          .orderBy('oldest.seq')
          .limit(1),
      )
      .where('status', '=', submitted)
      .where('worker_id', 'is', null)
      .where((eb) => eb.or([eb('due_at', 'is', null), eb('due_at', '<=', p.now)]))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('reactors')
            .select('reactors.id')
            .where('reactors.id', '=', p.reactorId)
            .where('reactors.status', '=', sql.lit<'READY'>('READY'))
            .where(
              (eb) =>
                eb
                  .selectFrom('executions as begun')
                  .select((count) => count.fn.countAll<number>().as('begun'))
                  .where('begun.reactor_id', '=', p.reactorId)
                  .where('begun.status', '=', running),
              '<',
              sql<number>`case when reactors.stateless = 1 then reactors.max_workers else 1 end`,
            ),
        ),
      )
      .returningAll(),
);

/** Where an execution is to run: a place that is there already, or one that is made with the claim. */
export interface ClaimingWorker {
  readonly id: string;
  readonly make?: Statement | undefined;
}

/** A container that waits for a message, and what gives the execution its token. */
export interface ClaimingSpare {
  readonly name: string;
  readonly grant?: Statement | undefined;
}

/**
 * Undefined: nothing waits, or what waits has no room, or the reactor is not ready. `spare`: the container that it may
 * run in, written with the claim: whoever finds the claim after a kill knows where to look.
 */
export async function claim(
  store: Store,
  reactorId: string,
  instance: string,
  worker: ClaimingWorker = { id: newId() },
  spare?: ClaimingSpare | undefined,
): Promise<Execution | undefined> {
  const [claimed] = await store.write(
    claimOldest({
      reactorId,
      workerId: worker.id,
      instance,
      spare: spare?.name ?? null,
      now: nowInMicroseconds(),
    }),
    ...(worker.make === undefined ? [] : [worker.make]),
    ...(spare?.grant === undefined ? [] : [spare.grant]),
  );
  const row = claimed.rows[0];
  return row && executionFrom(row);
}

/** A claim whose container never started is given back: the message keeps its place, before all that came later. */
export const releaseClaim = prepared((db, p: { id: string; workerId: string }) =>
  db
    .updateTable('executions')
    .set({ worker_id: null, instance: null, claimed_at: null, revision: null })
    .where('id', '=', p.id)
    .where('worker_id', '=', p.workerId)
    .where('status', '=', submitted),
);

/** The container runs. */
export const markRunning = prepared((db, p: { id: string; workerId: string; now: number }) =>
  db
    .updateTable('executions')
    .set({ status: running, started_at: p.now })
    .where('id', '=', p.id)
    .where('worker_id', '=', p.workerId)
    .where('status', '=', submitted),
);

/** The reactors that may have something to run now. Costs per reactor, not per message. */
export async function reactorsWithWork(store: Store): Promise<readonly string[]> {
  const rows = await store.read
    .selectFrom('reactors')
    .select('id')
    .where('status', '=', 'READY')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('executions')
          .select('executions.id')
          .whereRef('executions.reactor_id', '=', 'reactors.id')
          .where('executions.status', '=', submitted)
          .where('executions.seq', '<', endOfOrder),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

export async function hasReadyReactor(store: Store): Promise<boolean> {
  const row = await store.read
    .selectFrom('reactors')
    .select('id')
    .where('status', '=', 'READY')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** What this service has claimed and not settled, oldest first. */
export async function claimedBy(store: Store, instance: string): Promise<readonly Execution[]> {
  const rows = await store.read
    .selectFrom('executions')
    .selectAll()
    .where('instance', '=', instance)
    .orderBy('claimed_at')
    .execute();
  return rows.map(executionFrom);
}
