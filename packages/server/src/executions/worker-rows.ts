import { sql } from 'kysely';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { delayedFrom } from './places.ts';

/** Workers as the store keeps them. */

interface NewWorker {
  readonly id: string;
  readonly reactorId: string;
  readonly instance: string;
  readonly location: string;
  readonly now: number;
}

const valuesOf = (p: NewWorker) =>
  [
    sql<string>`${p.id}`.as('id'),
    'reactors.id as reactor_id',
    sql<string>`${p.instance}`.as('instance'),
    sql<string>`${p.location}`.as('location'),
    sql.lit<'READY'>('READY').as('status'),
    sql<number>`cast(${p.now} as bigint)`.as('created_at'),
    sql<number>`cast(${p.now} as bigint)`.as('checked_at'),
  ] as const;

const columns = [
  'id',
  'reactor_id',
  'instance',
  'location',
  'status',
  'created_at',
  'checked_at',
] as const;

/** Behind a claim in the same unit: the worker is made when the claim was won. */
export const makeWithClaim = prepared((db, p: NewWorker) =>
  db
    .insertInto('workers')
    .columns([...columns])
    .expression((eb) =>
      eb
        .selectFrom('reactors')
        .select([...valuesOf(p)])
        .where('reactors.id', '=', p.reactorId)
        // Only the oldest can have been claimed and not yet started.
        .where(
          (oldest) =>
            oldest
              .selectFrom('executions')
              .select('worker_id')
              .where('executions.reactor_id', '=', p.reactorId)
              .where('executions.status', '=', sql.lit<'SUBMITTED'>('SUBMITTED'))
              .where('seq', '<', sql.lit(delayedFrom))
              .orderBy('seq')
              .limit(1),
          '=',
          p.id,
        ),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

/** As long as the reactor has fewer than `least`. */
export const makeUpTo = prepared((db, p: NewWorker & { least: number }) =>
  db
    .insertInto('workers')
    .columns([...columns])
    .expression((eb) =>
      eb
        .selectFrom('reactors')
        .select([...valuesOf(p)])
        .where('reactors.id', '=', p.reactorId)
        .where(readyOf(p.reactorId), '<', sql<number>`cast(${p.least} as bigint)`),
    ),
);

const readyOf = (reactorId: string) =>
  sql<number>`(select count(*) from workers as other where other.reactor_id = ${reactorId} and other.status = 'READY')`;

/** Never fewer than before. Whoever changes the workers of the reactor at the same time waits for this row. */
export const keepAtLeast = prepared((db, p: { reactorId: string; least: number }) =>
  db
    .updateTable('reactors')
    .set({
      kept_workers: sql<number>`case when kept_workers < cast(${p.least} as bigint) then cast(${p.least} as bigint) else kept_workers end`,
    })
    .where('id', '=', p.reactorId)
    .where('status', '!=', sql.lit('SHUTTING_DOWN')),
);

/** After one was taken away: it is not made again. */
export const keepAtMostReady = prepared((db, p: { reactorId: string }) =>
  db
    .updateTable('reactors')
    .set({
      kept_workers: sql<number>`case when kept_workers > ${readyOf(p.reactorId)} then ${readyOf(p.reactorId)} else kept_workers end`,
    })
    .where('id', '=', p.reactorId),
);

export const sayGoing = prepared((db, p: { id: string }) =>
  db.updateTable('workers').set({ status: 'SHUTTING_DOWN' }).where('id', '=', p.id),
);

export const removeWorker = prepared((db, p: { id: string }) =>
  db.deleteFrom('workers').where('id', '=', p.id),
);

/** Nobody needs it: the reactor has more than it keeps. */
export const removeSurplus = prepared((db, p: { id: string; reactorId: string }) =>
  db
    .deleteFrom('workers')
    .where('id', '=', p.id)
    .where(
      readyOf(p.reactorId),
      '>',
      sql<number>`coalesce((select kept_workers from reactors where reactors.id = ${p.reactorId}), 0)`,
    ),
);

export const removeWorkersOf = prepared((db, p: { reactorId: string }) =>
  db.deleteFrom('workers').where('reactor_id', '=', p.reactorId),
);

export const noteUse = prepared((db, p: { id: string; at: number }) =>
  db.updateTable('workers').set({ last_execution_at: p.at }).where('id', '=', p.id),
);

export const noteCheck = prepared((db, p: { instance: string; now: number }) =>
  db.updateTable('workers').set({ checked_at: p.now }).where('instance', '=', p.instance),
);

/** In the order in which they were made. */
export const workersOf = (store: Store, reactorId: string) =>
  store.read
    .selectFrom('workers')
    .selectAll()
    .where('reactor_id', '=', reactorId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export const workersOfInstance = (store: Store, instance: string) =>
  store.read
    .selectFrom('workers')
    .selectAll()
    .where('instance', '=', instance)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

/** Which execution is in which worker: those that run, and the one that is about to. */
export async function busyWorkers(
  store: Store,
  reactorId: string,
): Promise<ReadonlyMap<string, string>> {
  const of = store.read
    .selectFrom('executions')
    .select(['id', 'worker_id'])
    .where('reactor_id', '=', reactorId);
  const [running, beginning] = await Promise.all([
    of.where('status', '=', sql.lit<'RUNNING'>('RUNNING')).execute(),
    of
      .where('status', '=', sql.lit<'SUBMITTED'>('SUBMITTED'))
      .where('seq', '<', delayedFrom)
      .orderBy('seq')
      .limit(1)
      .execute(),
  ]);
  return new Map(
    [...running, ...beginning].flatMap(({ id, worker_id }) =>
      worker_id === null ? [] : [[worker_id, id]],
    ),
  );
}
