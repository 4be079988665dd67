import { sql } from 'kysely';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** Few enough that a log of gigabytes goes without anybody waiting for it. */
const chunksAtOnce = 32;

const deleteFirstChunks = prepared((db, p: { id: string }) =>
  db
    .deleteFrom('log_chunks')
    .where('execution_id', '=', p.id)
    .where('start', 'in', (chunks) =>
      chunks
        .selectFrom('log_chunks')
        .select('start')
        .where('execution_id', '=', p.id)
        .orderBy('start')
        .limit(sql.lit(chunksAtOnce)),
    ),
);

const deleteLog = prepared((db, p: { id: string }) =>
  db.deleteFrom('logs').where('execution_id', '=', p.id),
);

/** The log itself goes with its last chunks: a process that is killed in between leaves nothing that is not found again. */
export async function removeLog(store: Store, executionId: string): Promise<void> {
  const id = { id: executionId };
  for (;;) {
    const left = await store.read
      .selectFrom('log_chunks')
      .select('start')
      .where('execution_id', '=', executionId)
      .limit(chunksAtOnce + 1)
      .execute();
    if (left.length <= chunksAtOnce) break;
    await store.write(deleteFirstChunks(id));
  }
  await store.write(deleteFirstChunks(id), deleteLog(id));
}

export const expireLog = prepared((db, p: { id: string; at: number }) =>
  db
    .updateTable('logs')
    .set({ expires_at: p.at })
    .where('execution_id', '=', p.id)
    .where('expires_at', 'is', null),
);

export async function findExpired(store: Store, now: number, limit: number): Promise<string[]> {
  const rows = await store.read
    .selectFrom('logs')
    .select('execution_id')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.execution_id);
}

export async function findUnended(store: Store, after: string, limit: number): Promise<string[]> {
  const rows = await store.read
    .selectFrom('logs')
    .select('execution_id')
    .where('expires_at', 'is', null)
    .where('execution_id', '>', after)
    .orderBy('execution_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.execution_id);
}

export async function findAmong(store: Store, executionIds: readonly string[]): Promise<string[]> {
  if (executionIds.length === 0) return [];
  const rows = await store.read
    .selectFrom('logs')
    .select('execution_id')
    .where('execution_id', 'in', executionIds)
    .execute();
  return rows.map((row) => row.execution_id);
}
