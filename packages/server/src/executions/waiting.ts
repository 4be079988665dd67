import { sql } from 'kysely';
import { droppedEvents } from '../events/outbox.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { type ContentType, contentTypes } from './execution.ts';
import { nowInMicroseconds } from './execution-time.ts';

/** A message that waits in an inbox. */
export interface WaitingMessage {
  readonly executionId: string;
  readonly receivedAt: number;
  readonly contentType: ContentType;
  readonly size: number;
}

/** One step of a purge: small, since everybody's commits wait for it. */
const stepRows = 2_000;

const isSubmitted = sql.lit<'SUBMITTED'>('SUBMITTED');

/** How many messages wait. Costs the same however many they are: those that do not wait any more are counted off. */
export async function countWaiting(store: Store, reactorId: string): Promise<number> {
  const row = await store.read
    .selectFrom('reactors')
    .select(['last_seq', 'settled'])
    .select((eb) => [
      eb
        .selectFrom('executions')
        .select((running) => running.fn.countAll<number>().as('running'))
        .where('reactor_id', '=', reactorId)
        .where('status', '=', sql.lit('RUNNING'))
        .as('running'),
      // Only the oldest can have been claimed and not yet started.
      eb
        .selectFrom('executions')
        .select('worker_id')
        .where('reactor_id', '=', reactorId)
        .where('status', '=', isSubmitted)
        .orderBy('seq')
        .limit(1)
        .as('claimed_by'),
    ])
    .where('id', '=', reactorId)
    .executeTakeFirst();
  if (row === undefined) return 0;
  const underWay = Number(row.running ?? 0) + (row.claimed_by === null ? 0 : 1);
  return Math.max(0, row.last_seq - row.settled - underWay);
}

/** The oldest that wait, in their order. */
export async function peekWaiting(
  store: Store,
  reactorId: string,
  limit: number,
): Promise<readonly WaitingMessage[]> {
  const rows = await store.read
    .selectFrom('executions')
    .select(['id', 'received_at', 'content_type', 'message_size'])
    .where('reactor_id', '=', reactorId)
    .where('status', '=', isSubmitted)
    .where('worker_id', 'is', null)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    executionId: row.id,
    receivedAt: row.received_at,
    contentType: contentTypes.find((known) => known === row.content_type) ?? 'str',
    size: row.message_size,
  }));
}

const dropSome = prepared(
  (db, p: { reactorId: string; upTo: number; message: string; now: number }) =>
    db
      .updateTable('executions')
      .set({ status: 'ERROR', status_message: p.message, finished_at: p.now })
      .where('id', 'in', (rows) =>
        rows
          .selectFrom('executions')
          .select('id')
          .where('reactor_id', '=', p.reactorId)
          .where('status', '=', isSubmitted)
          .where('worker_id', 'is', null)
          .where('seq', '<=', p.upTo)
          .orderBy('seq')
          .limit(stepRows),
      )
      // Another process may have claimed it while this statement waited for the row.
      .where('status', '=', isSubmitted)
      .where('worker_id', 'is', null)
      .returning('id'),
);

/** Counts what the statement before it in the unit has dropped: it is known by its time and its words. */
const countDropped = prepared((db, p: { reactorId: string; message: string; now: number }) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      settled: eb(
        'settled',
        '+',
        eb
          .selectFrom('executions')
          .select((dropped) => dropped.fn.countAll<number>().as('dropped'))
          .where('finished_at', '=', p.now)
          .where('reactor_id', '=', p.reactorId)
          .where('status_message', '=', p.message),
      ),
    }))
    .where('id', '=', p.reactorId),
);

/**
 * Ends everything that waits at this moment as ERROR; `message` says who wanted it. Messages that arrive meanwhile stay.
 * Tells `each` of the ids as they go. Resolves with their number.
 */
export async function dropWaiting(
  store: Store,
  reactorId: string,
  message: string,
  each: (executionId: string) => void,
): Promise<number> {
  const newest = await store.read
    .selectFrom('executions')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('reactor_id', '=', reactorId)
    .executeTakeFirst();
  const upTo = Number(newest?.seq ?? 0);
  let total = 0;
  for (;;) {
    const step = { reactorId, message, now: nowInMicroseconds() };
    const [dropped] = await store.write(
      dropSome({ ...step, upTo }),
      countDropped(step),
      ...droppedEvents(step),
    );
    total += dropped.affected;
    for (const { id } of dropped.rows) each(id);
    if (dropped.affected < stepRows) return total;
  }
}
