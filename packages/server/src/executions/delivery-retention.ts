import { sql } from 'kysely';
import { once, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** One step: small, since others' commits wait for it. */
const stepRows = 500;

const deleteKeys = prepared((db, p: { now: number }) =>
  db
    .deleteFrom('idempotency_keys')
    .where((eb) =>
      eb(
        eb.refTuple('reactor_id', 'user_id', 'key'),
        'in',
        eb
          .selectFrom('idempotency_keys')
          .select(['reactor_id', 'user_id', 'key'])
          .where('expires_at', '<=', p.now)
          .orderBy('expires_at')
          .limit(stepRows)
          .$asTuple('reactor_id', 'user_id', 'key'),
      ),
    ),
);

const releaseLetters = prepared((db, p: { before: number }) =>
  db
    .updateTable('executions')
    .set({ dead_at: null })
    .where('id', 'in', (rows) =>
      rows
        .selectFrom('executions')
        .select('id')
        .where('dead_at', 'is not', null)
        .where('dead_at', '<', p.before)
        .orderBy('dead_at')
        .limit(stepRows),
    ),
);

/** Forgets keys whose time is over. True: there may be more. */
export async function forgetKeys(store: Store, now: number): Promise<boolean> {
  const [forgotten] = await store.write(deleteKeys({ now }));
  return forgotten.affected === stepRows;
}

/** Dead letters that are too old are none any more; their records stay. `before` in microseconds. */
export async function forgetLetters(store: Store, before: number): Promise<boolean> {
  const [released] = await store.write(releaseLetters({ before }));
  return released.affected === stepRows;
}

/** Removes records with their messages, and takes their bytes from what is kept for their reactors. */
export function removeRecords(ids: readonly string[]): readonly Statement[] {
  return [
    once((db) =>
      db
        .updateTable('reactors')
        .set((eb) => {
          const removed = eb
            .selectFrom('executions')
            .select(sql<number>`coalesce(sum(message_size), 0)`.as('removed'))
            .whereRef('executions.reactor_id', '=', 'reactors.id')
            .where('executions.id', 'in', ids);
          return {
            stored_bytes: sql<number>`case when stored_bytes > ${removed} then stored_bytes - ${removed} else 0 end`,
          };
        })
        .where('id', 'in', (eb) =>
          eb.selectFrom('executions').select('reactor_id').where('executions.id', 'in', ids),
        ),
    ),
    once((db) => db.deleteFrom('executions').where('id', 'in', ids)),
  ];
}
