import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Condition } from '../filters/conditions.ts';
import type { Schema } from '../store/schema.ts';
import type { ListPlace } from './reactor-list.ts';

/** Which reactors a user may read, among all that meet the conditions. */
interface VisiblePage {
  readonly userId: string;
  readonly conditions: readonly Condition[];
  readonly after: ListPlace | undefined;
  /** How far the page goes into the list. */
  readonly reach: number;
}

/**
 * Their own, those shared with them and everyone's, each once. Each of the three is read in the order of its index and
 * no further than the page may reach, so that a page costs the same wherever it is.
 */
export function visibleReactors(
  read: Kysely<Schema>,
  { userId, conditions, after, reach }: VisiblePage,
) {
  const met = conditions.length === 0 ? always : sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
  const behind = (createdAt: string, id: string) =>
    after === undefined
      ? always
      : sql<SqlBool>`(${sql.ref(createdAt)}, ${sql.ref(id)}) < (cast(${after.createdAt} as bigint), ${after.id})`;
  const reactors = read
    .selectFrom('reactors')
    .leftJoin('users', 'users.id', 'reactors.owner_id')
    .select(['reactors.id as id', 'reactors.created_at as created_at'])
    .where(met)
    .where(behind('reactors.created_at', 'reactors.id'))
    .orderBy('reactors.created_at', 'desc')
    .orderBy('reactors.id', 'desc')
    .limit(reach);
  const own = reactors.where('reactors.owner_id', '=', userId);
  const everyones = reactors.where('reactors.world_level', 'is not', null);
  const shared = read
    .selectFrom('reactor_permissions')
    .innerJoin('reactors', 'reactors.id', 'reactor_permissions.reactor_id')
    .leftJoin('users', 'users.id', 'reactors.owner_id')
    .select(['reactors.id as id', 'reactors.created_at as created_at'])
    .where('reactor_permissions.user_id', '=', userId)
    .where(met)
    .where(behind('reactor_permissions.reactor_created_at', 'reactor_permissions.reactor_id'))
    .orderBy('reactor_permissions.reactor_created_at', 'desc')
    .orderBy('reactor_permissions.reactor_id', 'desc')
    .limit(reach);
  return read
    .selectFrom(own.as('own'))
    .selectAll()
    .union(read.selectFrom(shared.as('shared')).selectAll())
    .union(read.selectFrom(everyones.as('everyones')).selectAll());
}

const always = sql<SqlBool>`1 = 1`;

/** What others have shared with a user, by its owner. */
export interface SharedWith {
  readonly ownerId: string;
  readonly reactorIds: readonly string[];
}

/** Search goes through the newest of them: a service may have any number that are everyone's. */
export const mostSharedSearched = 500;
const mostOwners = 100;

export async function sharedWith(
  read: Kysely<Schema>,
  userId: string,
): Promise<readonly SharedWith[]> {
  const others = [sql<SqlBool>`reactors.owner_id <> ${userId}`];
  const page = { userId, conditions: others, after: undefined, reach: mostSharedSearched };
  const rows = await read
    .selectFrom(visibleReactors(read, page).as('visible'))
    .innerJoin('reactors', 'reactors.id', 'visible.id')
    .select(['reactors.id', 'reactors.owner_id'])
    .orderBy('visible.created_at', 'desc')
    .limit(mostSharedSearched)
    .execute();
  const byOwner = Map.groupBy(rows, (row) => row.owner_id);
  return [...byOwner]
    .slice(0, mostOwners)
    .map(([ownerId, found]) => ({ ownerId, reactorIds: found.map(({ id }) => id) }));
}
