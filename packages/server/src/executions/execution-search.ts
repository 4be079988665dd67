import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { fail } from '../errors.ts';
import { type Condition, conditionsOf } from '../filters/conditions.ts';
import { type Fields, microseconds, number, oneOf, text } from '../filters/field.ts';
import { type FoundPage, mostCounted, type SearchPage } from '../filters/search-reply.ts';
import type { Term, Wanted } from '../filters/terms.ts';
import { risingBound } from '../ids.ts';
import type { SharedWith } from '../reactors/visible-reactors.ts';
import type { Schema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { executionFrom, executionStatuses } from './execution.ts';
import type { OwnedExecution } from './execution-access.ts';

/** What executions can be searched by. */
export const executionFields: Fields = {
  id: text('executions.id'),
  actorId: text('executions.reactor_id'),
  executor: text('executions.executor'),
  workerId: text('executions.worker_id'),
  status: oneOf('executions.status', executionStatuses),
  statusMessage: text('executions.status_message'),
  exitCode: { ...number('executions.exit_code'), rarelyNonzero: true },
  cpu: number('executions.cpu'),
  io: number('executions.io'),
  runtime: number('executions.runtime'),
  attempt: number('executions.attempt'),
  contentType: text('executions.content_type'),
  messageReceivedTime: microseconds('executions.received_at'),
  startTime: microseconds('executions.started_at'),
  finishTime: microseconds('executions.finished_at'),
};

/** Among which executions: those of one reactor, of one owner and what is shared with them, or all. */
export interface Scope {
  readonly reactorId?: string;
  readonly ownerId?: string;
  /** Reactors of others, by their owner. */
  readonly shared?: readonly SharedWith[];
}

type Found = SelectQueryBuilder<Schema, 'executions', object>;

/** Newest first. */
export async function searchExecutions(
  store: Store,
  { reactorId, ownerId, shared = [] }: Scope,
  wanted: Wanted,
  { limit, offset, cursor }: SearchPage,
): Promise<FoundPage<OwnedExecution>> {
  if (cursor !== undefined && !/^[0-9A-Za-z]{1,32}$/.test(cursor))
    throw fail('invalid_field', {
      field: 'cursor',
      problem: 'takes the cursor in the Link header of the page before',
    });
  const times = idBounds(wanted.terms);
  // Ids rise with the time of receipt and have an index by owner; the places of one reactor have one of their own.
  const bySeq = reactorId !== undefined && times.length === 0;
  if (ownerId !== undefined && shared.length > 0) {
    const conditions = [...conditionsOf(wanted, executionFields), ...times];
    const owners = [{ ownerId, reactorIds: undefined }, ...shared];
    return searchOwners(store, owners, conditions, { limit, offset, cursor });
  }
  let query: Found = store.read.selectFrom('executions');
  if (reactorId !== undefined) query = query.where('reactor_id', '=', reactorId);
  if (ownerId !== undefined) query = query.where('owner_id', '=', ownerId);
  for (const condition of [...conditionsOf(wanted, executionFields), ...times])
    query = query.where(condition);
  const order = bySeq ? 'executions.seq' : 'executions.id';
  const place = sql`(select ${sql.ref(bySeq ? 'seq' : 'id')} from executions where id = ${cursor ?? ''})`;
  const paged =
    cursor === undefined ? query : query.where(sql<SqlBool>`${sql.ref(order)} < ${place}`);
  const [rows, count] = await Promise.all([
    paged
      .leftJoin('users', 'users.id', 'executions.owner_id')
      .selectAll('executions')
      .select('users.username as owner')
      .orderBy(order, 'desc')
      .limit(limit + 1)
      .offset(offset)
      .execute(),
    store.read
      .selectFrom(
        query
          .select(sql<number>`1`.as('one'))
          .limit(mostCounted + 1)
          .as('found'),
      )
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  const found = rows.slice(0, limit).map((row) => ({
    execution: executionFrom(row),
    owner: row.owner ?? '',
  }));
  const last = rows.length > limit ? found.at(-1) : undefined;
  return { rows: found, counted: Number(count.count), next: last?.execution.id };
}

interface OwnersPart {
  readonly ownerId: string;
  /** Undefined: all of them. */
  readonly reactorIds: readonly string[] | undefined;
}

/** The page out of the lists of several owners: each is in the order of its index, and read no further than the page may reach. */
async function searchOwners(
  { read }: Store,
  owners: readonly OwnersPart[],
  conditions: readonly Condition[],
  { limit, offset, cursor }: SearchPage,
): Promise<FoundPage<OwnedExecution>> {
  const [first, ...others] = owners.map(
    ({ ownerId, reactorIds }) =>
      (below: string | undefined, reach: number) => {
        let query = read.selectFrom('executions').select('id').where('owner_id', '=', ownerId);
        if (reactorIds !== undefined) query = query.where('reactor_id', 'in', reactorIds);
        if (below !== undefined) query = query.where('id', '<', below);
        for (const condition of conditions) query = query.where(condition);
        return read.selectFrom(query.orderBy('id', 'desc').limit(reach).as('part')).select('id');
      },
  );
  if (first === undefined) return { rows: [], counted: 0, next: undefined };
  const together = (below: string | undefined, reach: number) =>
    others.reduce((query, other) => query.unionAll(other(below, reach)), first(below, reach));
  const [places, count] = await Promise.all([
    read
      .selectFrom(together(cursor, offset + limit + 1).as('found'))
      .select('id')
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .offset(offset)
      .execute(),
    read
      .selectFrom(together(undefined, mostCounted + 1).as('found'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  const ids = places.slice(0, limit).map(({ id }) => id);
  const rows =
    ids.length === 0
      ? []
      : await read
          .selectFrom('executions')
          .leftJoin('users', 'users.id', 'executions.owner_id')
          .selectAll('executions')
          .select('users.username as owner')
          .where('executions.id', 'in', ids)
          .orderBy('executions.id', 'desc')
          .execute();
  const found = rows.map((row) => ({ execution: executionFrom(row), owner: row.owner ?? '' }));
  return {
    rows: found,
    counted: Number(count.count),
    next: places.length > limit ? ids.at(-1) : undefined,
  };
}

/** An id is made a moment before the time of receipt is taken. */
const slackMs = 2_000;

/** What a search by time of receipt says of the ids. */
function idBounds(terms: readonly Term[]) {
  return terms
    .filter(({ name }) => name === 'messageReceivedTime')
    .flatMap(({ operator, values }) => {
      const [first, second = first] = values;
      if (typeof first !== 'number' || typeof second !== 'number') return [];
      const from = sql<SqlBool>`executions.id >= ${risingBound(Math.floor(first / 1000) - slackMs)}`;
      const to = sql<SqlBool>`executions.id < ${risingBound(Math.ceil(second / 1000) + slackMs)}`;
      if (operator === 'between' || operator === 'eq') return [from, to];
      if (operator === 'gt' || operator === 'gte') return [from];
      return operator === 'lt' || operator === 'lte' ? [to] : [];
    });
}
