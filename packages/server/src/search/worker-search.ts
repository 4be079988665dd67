import { type SqlBool, sql } from 'kysely';
import type { Static } from 'typebox';
import {
  listWorkers,
  type WorkerListParts,
  type WorkerRecord,
  workerStatuses,
} from '../executions/worker-records.ts';
import { conditionsOf } from '../filters/conditions.ts';
import { type Fields, milliseconds, oneOf, text } from '../filters/field.ts';
import { type FoundPage, mostCounted, type SearchPage } from '../filters/search-reply.ts';
import type { Term, Wanted } from '../filters/terms.ts';
import { reactorFrom, selectReactors } from '../reactors/reactor-rows.ts';

/** What workers can be searched by. */
export const workerFields: Fields = {
  id: text('workers.id'),
  actorId: text('workers.reactor_id'),
  image: text('reactors.image'),
  location: text('workers.location'),
  // As it is shown, which the store alone does not know: it is looked at afterwards.
  status: oneOf('workers.status', workerStatuses),
  createTime: milliseconds('workers.created_at'),
  lastExecutionTime: milliseconds('workers.last_execution_at'),
  lastHealthCheckTime: milliseconds('workers.checked_at'),
};

type Worker = Static<typeof WorkerRecord>;

/** Newest first. There are as many as machines can run, which is few. `userId`: who searches; undefined: among all. */
export async function searchWorkers(
  parts: WorkerListParts,
  userId: string | undefined,
  { terms, ...wanted }: Wanted,
  { limit, offset }: SearchPage,
): Promise<FoundPage<Worker>> {
  const ofStatus = terms.filter(({ name }) => name === 'status');
  const others = terms.filter(({ name }) => name !== 'status');
  let query = parts.store.read
    .selectFrom('workers')
    .innerJoin('reactors', 'reactors.id', 'workers.reactor_id')
    .select(['workers.id', 'workers.reactor_id'])
    .orderBy('workers.created_at', 'desc')
    .orderBy('workers.id', 'desc')
    .limit(mostCounted + 1);
  if (userId !== undefined)
    query = query.where(
      sql<SqlBool>`(reactors.owner_id = ${userId} or reactors.world_level is not null or exists (select 1 from reactor_permissions
        where reactor_permissions.reactor_id = reactors.id and reactor_permissions.user_id = ${userId}))`,
    );
  for (const condition of conditionsOf({ ...wanted, terms: others }, workerFields))
    query = query.where(condition);
  const rows = await query.execute();
  if (ofStatus.length === 0) {
    const page = await shown(parts, rows.slice(offset, offset + limit));
    return { rows: page, counted: rows.length, next: undefined };
  }
  const found = (await shown(parts, rows)).filter(({ status }) =>
    ofStatus.every((term) => holds(term, status)),
  );
  return { rows: found.slice(offset, offset + limit), counted: found.length, next: undefined };
}

/** The records of these workers, in their order. */
async function shown(
  parts: WorkerListParts,
  rows: readonly { readonly id: string; readonly reactor_id: string }[],
): Promise<readonly Worker[]> {
  const ids = [...new Set(rows.map((row) => row.reactor_id))];
  if (ids.length === 0) return [];
  const reactors = await selectReactors(parts.store.read).where('reactors.id', 'in', ids).execute();
  const byId = new Map<string, Worker>();
  for (const reactor of reactors)
    for (const worker of await listWorkers(parts, reactorFrom(reactor)))
      byId.set(worker.id, worker);
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}

function holds({ operator, values }: Term, status: string): boolean {
  const isAmong = values.includes(status);
  return operator === 'neq' || operator === 'nin' ? !isAmong : isAmong;
}
