import { sql } from 'kysely';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Execution } from './execution.ts';
import type { Runner } from './run.ts';

/** Kept before the container is stopped: whoever settles it knows why it ended. The first wish counts. */
const wishHalt = prepared((db, p: { id: string; reason: string; now: number }) =>
  db
    .updateTable('executions')
    .set({ halt_requested_at: p.now, halt_reason: p.reason })
    .where('id', '=', p.id)
    .where('status', '=', sql.lit<'RUNNING'>('RUNNING'))
    .where('halt_reason', 'is', null),
);

/** The same for everything that runs of a reactor. */
const wishHaltOfAll = prepared((db, p: { reactorId: string; reason: string; now: number }) =>
  db
    .updateTable('executions')
    .set({ halt_requested_at: p.now, halt_reason: p.reason })
    .where('reactor_id', '=', p.reactorId)
    .where('status', '=', sql.lit<'RUNNING'>('RUNNING'))
    .where('halt_reason', 'is', null),
);

/** Asks everything that runs of a reactor to stop, also what is about to begin. */
export async function haltAllOf(
  store: Store,
  runner: Pick<Runner, 'ofReactor'>,
  reactorId: string,
  reason: string,
): Promise<void> {
  await store.write(wishHaltOfAll({ reactorId, reason, now: Date.now() }));
  for (const active of runner.ofReactor(reactorId)) active.stop(reason);
}

/** Asks a running execution to stop. False: it does not run. It ends as COMPLETE, with words that say who halted it. */
export async function halt(
  store: Store,
  runner: Pick<Runner, 'find'>,
  execution: Pick<Execution, 'id'>,
  by: string,
): Promise<boolean> {
  const reason = `halted by ${by}`;
  const [wished] = await store.write(wishHalt({ id: execution.id, reason, now: Date.now() }));
  // Where another process runs it, that one finds the wish when it looks.
  if (wished.affected > 0) runner.find(execution.id)?.stop(reason);
  return wished.affected > 0 || (await isBeingHalted(store, execution.id));
}

async function isBeingHalted(store: Store, id: string): Promise<boolean> {
  const row = await store.read
    .selectFrom('executions')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.status === 'RUNNING';
}

/** Fulfils the wishes that other processes have kept for executions of this one. */
export async function fulfilWishes(
  store: Store,
  runner: Pick<Runner, 'find'>,
  instance: string,
): Promise<void> {
  const rows = await store.read
    .selectFrom('executions')
    .select(['id', 'halt_reason'])
    .where('instance', '=', instance)
    .where('halt_reason', 'is not', null)
    .execute();
  for (const { id, halt_reason } of rows) {
    if (halt_reason !== null) runner.find(id)?.stop(halt_reason);
  }
}
