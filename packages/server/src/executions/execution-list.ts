import type { Caller } from '../contract/caller.ts';
import type { Page } from '../contract/page.ts';
import { fail } from '../errors.ts';
import { reactorIdPattern } from '../reactors/reactor.ts';
import type { Store } from '../store/store.ts';
import { type AccessParts, owned } from './execution-access.ts';

/** Which page: with `below` it begins with the first execution that came before the one of this place. */
export interface ListPlace extends Page {
  readonly below: number | undefined;
}

export interface Totals {
  readonly reactorId: string;
  readonly owner: string;
  readonly executions: number;
  readonly cpu: number;
  readonly io: number;
  readonly runtime: number;
}

/**
 * The sums over all executions of a reactor, which the reactor carries with it. Those of a deleted reactor are added up
 * from what is left. Refuses callers who may not read it. `reactorName`: an id or an alias.
 */
export async function totalsOf(
  { store, reactors }: AccessParts,
  caller: Caller,
  reactorName: string,
): Promise<Totals> {
  const exists = (await reactors.byName(reactorName)) !== undefined;
  const left = exists ? undefined : await totalsLeft(store, caller, reactorName);
  if (left !== undefined) return left;
  const { id, ownerUsername } = await reactors.forCaller(caller, reactorName, 'READ');
  const sums = await store.read
    .selectFrom('reactors')
    .select(['total_executions', 'total_cpu', 'total_io', 'total_runtime'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (sums === undefined) throw fail('unknown_resource', { kind: 'reactor', name: reactorName });
  return {
    reactorId: id,
    owner: ownerUsername,
    executions: sums.total_executions,
    cpu: sums.total_cpu,
    io: sums.total_io,
    runtime: sums.total_runtime,
  };
}

async function totalsLeft(
  store: Store,
  caller: Caller,
  reactorId: string,
): Promise<Totals | undefined> {
  if (!reactorIdPattern.test(reactorId)) return undefined;
  const some = await store.read
    .selectFrom('executions')
    .leftJoin('users', 'users.id', 'executions.owner_id')
    .select(['owner_id', 'username'])
    .where('reactor_id', '=', reactorId)
    .limit(1)
    .executeTakeFirst();
  if (some === undefined || !owned(caller, some.owner_id)) return undefined;
  const sums = await store.read
    .selectFrom('executions')
    .select((eb) => [
      eb.fn.countAll<number>().as('executions'),
      eb.fn.sum<number>('cpu').as('cpu'),
      eb.fn.sum<number>('io').as('io'),
      eb.fn.sum<number>('runtime').as('runtime'),
    ])
    .where('reactor_id', '=', reactorId)
    .executeTakeFirstOrThrow();
  return { reactorId, owner: some.username ?? '', ...sums };
}

/** Newest first. One more than the page holds, where there is one: it tells that there is a next page. */
export async function listExecutions(
  store: Store,
  reactorId: string,
  { limit, offset, below }: ListPlace,
) {
  const newestFirst = store.read
    .selectFrom('executions')
    .where('reactor_id', '=', reactorId)
    .$if(below !== undefined, (query) => query.where('seq', '<', below ?? 0))
    .orderBy('seq', 'desc');
  return newestFirst
    .select([
      'id',
      'seq',
      'status',
      'exit_code as exitCode',
      'executor',
      'received_at as receivedAt',
      'started_at as startedAt',
      'finished_at as finishedAt',
    ])
    .$if(offset > 0, (query) =>
      // Counted off in the index alone: the rows before the page are not looked at.
      query.where('seq', '<=', newestFirst.select('seq').limit(1).offset(offset)),
    )
    .limit(limit + 1)
    .execute();
}
