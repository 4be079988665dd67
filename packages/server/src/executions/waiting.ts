import { sql } from 'kysely';
import { droppedEvents } from '../events/outbox.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { type ContentType, contentTypes } from './execution.ts';
import { nowInMicroseconds } from './execution-time.ts';
import { delayedFrom } from './places.ts';

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
const endOfOrder = sql.lit(delayedFrom);

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
        .where('seq', '<', endOfOrder)
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

/** How many messages are not in the order yet, since their time has not come. */
export async function countDelayed(store: Store, reactorId: string): Promise<number> {
  const row = await store.read
    .selectFrom('reactors')
    .select('delayed')
    .where('id', '=', reactorId)
    .executeTakeFirst();
  return row?.delayed ?? 0;
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
    .where('seq', '<', endOfOrder)
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

/** From one place to another, both with it. */
interface Range {
  readonly from: number;
  readonly upTo: number;
}

interface Step {
  readonly reactorId: string;
  readonly message: string;
  readonly now: number;
}

const dropSome = prepared((db, p: Step & Range) =>
  db
    .updateTable('executions')
    .set({ status: 'ERROR', status_message: p.message, finished_at: p.now, due_at: null })
    .where('id', 'in', (rows) =>
      rows
        .selectFrom('executions')
        .select('id')
        .where('reactor_id', '=', p.reactorId)
        .where('status', '=', isSubmitted)
        .where('worker_id', 'is', null)
        .where('seq', '>=', p.from)
        .where('seq', '<=', p.upTo)
        .orderBy('seq')
        .limit(stepRows),
    )
    // Another process may have claimed it while this statement waited for the row, or have given it its place.
    .where('status', '=', isSubmitted)
    .where('worker_id', 'is', null)
    .where('seq', '>=', p.from)
    .where('seq', '<=', p.upTo)
    .returning('id'),
);

/** What the statement before it in the unit has dropped: it is known by its time and its words. */
const droppedJustNow = (p: Step) => sql<number>`(
  select count(*) from executions
  where finished_at = ${p.now} and reactor_id = ${p.reactorId} and status_message = ${p.message}
)`;

const countDropped = prepared((db, p: Step) =>
  db
    .updateTable('reactors')
    .set((eb) => ({ settled: eb('settled', '+', droppedJustNow(p)) }))
    .where('id', '=', p.reactorId),
);

const countDroppedDelayed = prepared((db, p: Step) =>
  db
    .updateTable('reactors')
    .set((eb) => ({ delayed: eb('delayed', '-', droppedJustNow(p)) }))
    .where('id', '=', p.reactorId),
);

/**
 * Ends everything that waits at this moment as ERROR, also what waits for its time; `message` says who wanted it.
 * Messages that arrive meanwhile stay. Tells `each` of the ids as they go. Resolves with their number.
 */
export async function dropWaiting(
  store: Store,
  reactorId: string,
  message: string,
  each: (executionId: string) => void,
): Promise<number> {
  const drop = async (range: Range, count: typeof countDropped): Promise<number> => {
    for (let total = 0; ; ) {
      const step = { reactorId, message, now: nowInMicroseconds() };
      const [dropped] = await store.write(
        dropSome({ ...step, ...range }),
        count(step),
        ...droppedEvents(step),
      );
      total += dropped.affected;
      for (const { id } of dropped.rows) each(id);
      if (dropped.affected < stepRows) return total;
    }
  };
  const inOrder = () => newest(store, reactorId, 0, delayedFrom - 1);
  const delayed = await newest(store, reactorId, delayedFrom, Number.MAX_SAFE_INTEGER);
  if (delayed === 0) return drop({ from: 0, upTo: await inOrder() }, countDropped);
  // Those first that may take a place in the order at any moment: the second look finds them there.
  const early = await drop({ from: delayedFrom, upTo: delayed }, countDroppedDelayed);
  return early + (await drop({ from: 0, upTo: await inOrder() }, countDropped));
}

async function newest(store: Store, reactorId: string, from: number, to: number): Promise<number> {
  const row = await store.read
    .selectFrom('executions')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('reactor_id', '=', reactorId)
    .where('seq', '>=', from)
    .where('seq', '<=', to)
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}
