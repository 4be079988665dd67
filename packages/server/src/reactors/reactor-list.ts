import type { Kysely } from 'kysely';
import type { Schema } from '../store/schema.ts';
import type { Reactor } from './reactor.ts';
import { reactorFrom, selectReactors } from './reactor-rows.ts';

/** Where a page of the list begins: after this reactor. */
export interface ListPlace {
  readonly createdAt: number;
  readonly id: string;
}

export interface ListedPage {
  /** Whose list: their own reactors, and those shared with them or with everyone. Undefined: all there are. */
  readonly userId: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly after: ListPlace | undefined;
}

/** Newest first. */
export async function listReactors(
  read: Kysely<Schema>,
  page: ListedPage,
): Promise<readonly Reactor[]> {
  const { userId, limit, offset, after } = page;
  if (userId !== undefined) return listFor(read, userId, page);
  let query = selectReactors(read)
    .orderBy('reactors.created_at', 'desc')
    .orderBy('reactors.id', 'desc')
    .limit(limit)
    .offset(offset);
  if (after !== undefined)
    query = query.where((eb) =>
      eb(
        eb.refTuple('reactors.created_at', 'reactors.id'),
        '<',
        eb.tuple(after.createdAt, after.id),
      ),
    );
  return (await query.execute()).map(reactorFrom);
}

/** First which, then what: in one query a database might look through all reactors for the few that are visible. */
async function listFor(
  read: Kysely<Schema>,
  userId: string,
  page: ListedPage,
): Promise<readonly Reactor[]> {
  const ids = (await idsFor(read, userId, page).execute()).map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = await selectReactors(read).where('reactors.id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, reactorFrom(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/**
 * The page out of the three lists that make one: each is in an index of its own and read no further than the page
 * may reach, so that a page costs the same wherever it is.
 */
function idsFor(read: Kysely<Schema>, userId: string, { limit, offset, after }: ListedPage) {
  const reach = limit + offset;
  let own = read
    .selectFrom('reactors')
    .select(['id', 'created_at'])
    .where('owner_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(reach);
  let shared = read
    .selectFrom('reactor_permissions')
    .select(['reactor_id as id', 'reactor_created_at as created_at'])
    .where('user_id', '=', userId)
    .orderBy('reactor_created_at', 'desc')
    .orderBy('reactor_id', 'desc')
    .limit(reach);
  let everyones = read
    .selectFrom('reactors')
    .select(['id', 'created_at'])
    .where('world_level', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(reach);
  if (after !== undefined) {
    own = own.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(after.createdAt, after.id)),
    );
    shared = shared.where((eb) =>
      eb(eb.refTuple('reactor_created_at', 'reactor_id'), '<', eb.tuple(after.createdAt, after.id)),
    );
    everyones = everyones.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(after.createdAt, after.id)),
    );
  }
  return read
    .selectFrom(
      read
        .selectFrom(own.as('own'))
        .selectAll()
        // Each reactor once, however many ways lead to it.
        .union(read.selectFrom(shared.as('shared')).selectAll())
        .union(read.selectFrom(everyones.as('everyones')).selectAll())
        .as('visible'),
    )
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset);
}
