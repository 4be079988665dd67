import { sql } from 'kysely';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** Few enough that large results go without anybody waiting for it. */
const resultsAtOnce = 8;

const deleteFirst = prepared((db, p: { id: string }) =>
  db
    .deleteFrom('results')
    .where('execution_id', '=', p.id)
    .where('place', 'in', (some) =>
      some
        .selectFrom('results')
        .select('place')
        .where('execution_id', '=', p.id)
        .orderBy('place')
        .limit(sql.lit(resultsAtOnce)),
    ),
);

const deleteBox = prepared((db, p: { id: string }) =>
  db.deleteFrom('result_boxes').where('execution_id', '=', p.id),
);

/** Forgets what an execution has given. The box goes last, so that a process that is killed leaves nothing unfound. */
export async function removeResults(store: Store, executionId: string): Promise<void> {
  const id = { id: executionId };
  for (;;) {
    const [deleted] = await store.write(deleteFirst(id));
    if (deleted.affected < resultsAtOnce) break;
  }
  await store.write(deleteFirst(id), deleteBox(id));
}

/** Executions whose last result is older than this. */
export async function findOldBoxes(
  store: Store,
  before: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await store.read
    .selectFrom('result_boxes')
    .select('execution_id')
    .where('last_given_at', '<', before)
    .orderBy('last_given_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.execution_id);
}

export async function findBoxesOf(
  store: Store,
  reactorId: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await store.read
    .selectFrom('result_boxes')
    .select('execution_id')
    .where('reactor_id', '=', reactorId)
    .limit(limit)
    .execute();
  return rows.map((row) => row.execution_id);
}
