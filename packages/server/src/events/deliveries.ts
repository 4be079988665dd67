import { type Selectable, sql } from 'kysely';
import type { DeliveriesTable } from '../store/event-tables.ts';
import { once, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { EventRow } from './event.ts';

export type Delivery = Selectable<DeliveriesTable>;

/** A delivery that this process has taken on, with what it tells. */
export interface Taken {
  readonly delivery: Delivery;
  readonly event: EventRow;
}

// A literal and not a parameter: only so does the partial index fit.
const pending = sql.lit<'PENDING'>('PENDING');

/**
 * The queues in which something waits: reactors and kinds. From one to the next in the index, so that it costs per
 * queue and not per delivery.
 */
export async function queuesWithWork(store: Store, most: number): Promise<readonly string[]> {
  const { rows } = await sql<{ queue: string }>`
    with recursive found (queue) as (
      select min(queue) from deliveries where status = ${pending}
      union all
      select (select min(d.queue) from deliveries d where d.status = ${pending} and d.queue > found.queue)
      from found where found.queue is not null
    )
    select queue from found where queue is not null limit ${sql.lit(most)}`.execute(store.read);
  return rows.map(({ queue }) => queue);
}

const take = prepared((db, p: { id: string; now: number; until: number }) =>
  db
    .updateTable('deliveries')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), leased_until: p.until }))
    .where('id', '=', p.id)
    .where('status', '=', pending)
    .where('leased_until', '<=', p.now)
    .returningAll(),
);

/** The first that is due, unless somebody else is at it: then what comes behind it waits too. */
export async function takeFirst(
  store: Store,
  queue: string,
  now: number,
  leaseMs: number,
): Promise<Taken | undefined> {
  const first = await store.read
    .selectFrom('deliveries')
    .select(['id', 'leased_until'])
    .where('queue', '=', queue)
    .where('status', '=', pending)
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .orderBy('event_id')
    .limit(1)
    .executeTakeFirst();
  if (first === undefined || first.leased_until > now) return undefined;
  const [taken] = await store.write(take({ id: first.id, now, until: now + leaseMs }));
  const delivery = taken.rows[0];
  if (delivery === undefined) return undefined;
  const event = await store.read
    .selectFrom('events')
    .selectAll()
    .where('id', '=', delivery.event_id)
    .executeTakeFirst();
  return event && { delivery, event };
}

interface Ended {
  readonly id: string;
  readonly status: 'DELIVERED' | 'FAILED';
  readonly code: number | null;
  readonly problem: string;
  readonly now: number;
}

export const endDelivery: (ended: Ended) => Statement = prepared((db, p: Ended) =>
  db
    .updateTable('deliveries')
    .set({
      status: p.status,
      last_code: p.code,
      last_problem: p.problem,
      ended_at: p.now,
      leased_until: 0,
    })
    .where('id', '=', p.id)
    .where('status', '=', pending),
);

export const tryAgainLater = prepared(
  (db, p: { id: string; code: number | null; problem: string; nextAt: number }) =>
    db
      .updateTable('deliveries')
      .set({ last_code: p.code, last_problem: p.problem, next_at: p.nextAt, leased_until: 0 })
      .where('id', '=', p.id)
      .where('status', '=', pending),
);

/** By hand: from the beginning, whatever came of it before. */
export const deliverAgain = prepared((db, p: { id: string; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ status: 'PENDING', attempts: 0, next_at: p.now, leased_until: 0, ended_at: null })
    .where('id', '=', p.id)
    .where('status', '!=', pending),
);

/** A store of one process alone has nobody else at work: what the process before had taken on is free. */
export const freeAll = prepared((db) =>
  db
    .updateTable('deliveries')
    .set({ leased_until: 0 })
    .where('status', '=', pending)
    .where('leased_until', '>', 0),
);

const eventsAtOnce = 500;

/** Removes events that are too old, and their deliveries with them. Resolves with whether there may be more. */
export async function removeOldEvents(store: Store, before: number): Promise<boolean> {
  const rows = await store.read
    .selectFrom('events')
    .select(['id', 'at'])
    .orderBy('id')
    .limit(eventsAtOnce)
    .execute();
  const old = rows.filter(({ at }) => at < before).map(({ id }) => id);
  const last = old.at(-1);
  if (last === undefined) return false;
  await store.write(once((db) => db.deleteFrom('events').where('id', '<=', last)));
  return old.length === eventsAtOnce;
}
