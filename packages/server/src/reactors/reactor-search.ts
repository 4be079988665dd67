import { sql } from 'kysely';
import { conditionsOf } from '../filters/conditions.ts';
import { type Fields, flag, milliseconds, number, oneOf, text } from '../filters/field.ts';
import { type FoundPage, mostCounted, type SearchPage } from '../filters/search-reply.ts';
import type { Wanted } from '../filters/terms.ts';
import type { Store } from '../store/store.ts';
import { cursorAfter, readCursor } from './list-cursor.ts';
import { type Reactor, reactorStatuses } from './reactor.ts';
import { reactorFrom, selectReactors } from './reactor-rows.ts';
import { visibleReactors } from './visible-reactors.ts';

/** What reactors can be searched by. */
export const reactorFields: Fields = {
  id: text('reactors.id'),
  name: text('reactors.name'),
  description: text('reactors.description'),
  image: text('reactors.image'),
  imageDigest: text('reactors.image_digest'),
  owner: text('users.username'),
  status: oneOf('reactors.status', reactorStatuses),
  statusMessage: text('reactors.status_message'),
  revision: number('reactors.revision'),
  stateless: flag('reactors.stateless'),
  maxWorkers: number('reactors.max_workers'),
  memLimit: number('reactors.mem_limit'),
  timeout: number('reactors.timeout'),
  logEx: number('reactors.log_ex'),
  token: flag('reactors.token'),
  privileged: flag('reactors.privileged'),
  hints: text('reactors.hints'),
  link: text('reactors.link'),
  webhook: text('reactors.webhook'),
  cronSchedule: text('reactors.cron_schedule'),
  cronOn: flag('reactors.cron_on'),
  removeWhenIdle: flag('reactors.remove_when_idle'),
  createTime: milliseconds('reactors.created_at'),
  lastUpdateTime: milliseconds('reactors.updated_at'),
};

/** Newest first. `userId`: who searches, among what they may read; undefined: among everything. */
export async function searchReactors(
  store: Store,
  userId: string | undefined,
  wanted: Wanted,
  { limit, offset, cursor }: SearchPage,
): Promise<FoundPage<Reactor>> {
  if (userId !== undefined) return searchVisible(store, userId, wanted, { limit, offset, cursor });
  let query = selectReactors(store.read);
  for (const condition of conditionsOf(wanted, reactorFields)) query = query.where(condition);
  const after = readCursor(cursor);
  const paged =
    after === undefined
      ? query
      : query.where((eb) =>
          eb(
            eb.refTuple('reactors.created_at', 'reactors.id'),
            '<',
            eb.tuple(after.createdAt, after.id),
          ),
        );
  const [rows, count] = await Promise.all([
    paged
      .orderBy('reactors.created_at', 'desc')
      .orderBy('reactors.id', 'desc')
      .limit(limit + 1)
      .offset(offset)
      .execute(),
    store.read
      .selectFrom(
        query
          .clearSelect()
          .select(sql<number>`1`.as('one'))
          .limit(mostCounted + 1)
          .as('found'),
      )
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  const found = rows.slice(0, limit).map(reactorFrom);
  const last = rows.length > limit ? found.at(-1) : undefined;
  return { rows: found, counted: Number(count.count), next: last && cursorAfter(last) };
}

/** First which, then what, as lists do. */
async function searchVisible(
  { read }: Store,
  userId: string,
  wanted: Wanted,
  { limit, offset, cursor }: SearchPage,
): Promise<FoundPage<Reactor>> {
  const conditions = conditionsOf(wanted, reactorFields);
  const reach = offset + limit + 1;
  const page = visibleReactors(read, { userId, conditions, after: readCursor(cursor), reach });
  const all = { userId, conditions, after: undefined, reach: mostCounted + 1 };
  const [places, count] = await Promise.all([
    read
      .selectFrom(page.as('visible'))
      .select('id')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .offset(offset)
      .execute(),
    read
      .selectFrom(visibleReactors(read, all).as('visible'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  const ids = places.map(({ id }) => id);
  const rows =
    ids.length === 0 ? [] : await selectReactors(read).where('reactors.id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, reactorFrom(row)]));
  const found = ids.slice(0, limit).flatMap((id) => byId.get(id) ?? []);
  const last = ids.length > limit ? found.at(-1) : undefined;
  return { rows: found, counted: Number(count.count), next: last && cursorAfter(last) };
}
