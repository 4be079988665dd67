import { sql } from 'kysely';
import { conditionsOf } from '../filters/conditions.ts';
import { type Fields, microseconds, oneOf, text } from '../filters/field.ts';
import { type FoundPage, mostCounted, type SearchPage } from '../filters/search-reply.ts';
import type { Wanted } from '../filters/terms.ts';
import type { Store } from '../store/store.ts';

/** What workers can be searched by: the places in which executions run at this moment. */
export const workerFields: Fields = {
  id: text('executions.worker_id'),
  actorId: text('executions.reactor_id'),
  executionId: text('executions.id'),
  image: text('reactors.image'),
  location: text('executions.instance'),
  status: oneOf('executions.status', ['SUBMITTED', 'RUNNING']),
  createTime: microseconds('executions.claimed_at'),
};

export interface FoundWorker {
  readonly id: string;
  readonly actorId: string;
  readonly executionId: string;
  readonly image: string;
  readonly location: string;
  readonly createTime: string;
}

/** Those at work now are few: they are found by the index of what runs. `ownerId`: whose; undefined: everybody's. */
export async function searchWorkers(
  store: Store,
  ownerId: string | undefined,
  wanted: Wanted,
  { limit, offset }: SearchPage,
): Promise<FoundPage<FoundWorker>> {
  let query = store.read
    .selectFrom('executions')
    .innerJoin('reactors', 'reactors.id', 'executions.reactor_id')
    .where('executions.status', '=', sql.lit<'RUNNING'>('RUNNING'))
    .where('executions.instance', 'is not', null);
  if (ownerId !== undefined) query = query.where('reactors.owner_id', '=', ownerId);
  for (const condition of conditionsOf(wanted, workerFields)) query = query.where(condition);
  const rows = await query
    .select([
      'executions.worker_id as id',
      'executions.reactor_id as actorId',
      'executions.id as executionId',
      'reactors.image',
      'executions.instance as location',
      'executions.claimed_at',
    ])
    .orderBy('executions.id', 'desc')
    .limit(mostCounted + 1)
    .execute();
  const found = rows.map(({ claimed_at, id, location, ...row }) => ({
    ...row,
    id: id ?? '',
    location: location ?? '',
    createTime: new Date((claimed_at ?? 0) / 1000).toISOString(),
  }));
  return { rows: found.slice(offset, offset + limit), counted: found.length, next: undefined };
}
