import type { Kysely, Selectable } from 'kysely';
import { fail } from '../errors.ts';
import type { Schema } from '../store/schema.ts';
import type { ConfigsTable } from '../store/sharing-tables.ts';

/** A named value of a user, for the containers of some reactors. */
export interface Config {
  readonly id: string;
  readonly name: string;
  readonly isSecret: boolean;
  /** Null: a secret, which is not shown. */
  readonly value: string | null;
  readonly reactorIds: readonly string[];
  /** Bytes that it takes in the JSON of all configs of a reactor. */
  readonly size: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The most that one reactor is given: all of it together is one variable too, and Linux takes 128 KiB for one. */
const mostBytes = 120 * 1024;

export const configsOf = (read: Kysely<Schema>, ownerId: string) =>
  read.selectFrom('configs').selectAll().where('owner_id', '=', ownerId);

/** The configs of these rows, in their order, with the reactors that they are linked to. */
export async function withReactors(
  read: Kysely<Schema>,
  rows: readonly Selectable<ConfigsTable>[],
): Promise<readonly Config[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const links = await read
    .selectFrom('config_reactors')
    .select(['config_id', 'reactor_id'])
    .where('config_id', 'in', ids)
    .orderBy('reactor_id')
    .execute();
  const reactorsOf = Map.groupBy(links, ({ config_id }) => config_id);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    isSecret: row.is_secret === 1,
    value: row.is_secret === 1 ? null : row.value,
    reactorIds: (reactorsOf.get(row.id) ?? []).map(({ reactor_id }) => reactor_id),
    size: row.size,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** Throws when a reactor would be given too much with this config beside its others. */
export async function refuseTooMuch(
  read: Kysely<Schema>,
  id: string,
  reactorIds: readonly string[],
  size: number,
): Promise<void> {
  if (reactorIds.length === 0) return;
  const sums = await read
    .selectFrom('config_reactors')
    .innerJoin('configs', 'configs.id', 'config_reactors.config_id')
    .select((eb) => ['config_reactors.reactor_id', eb.fn.sum<number>('configs.size').as('size')])
    .where('config_reactors.reactor_id', 'in', reactorIds)
    .where('configs.id', '!=', id)
    .groupBy('config_reactors.reactor_id')
    .execute();
  const others = new Map(sums.map((sum) => [sum.reactor_id, Number(sum.size)]));
  const full = reactorIds.find((reactorId) => (others.get(reactorId) ?? 0) + size > mostBytes);
  if (full === undefined) return;
  throw fail('conflict', {
    problem: `The configs of the reactor ${full} would be over ${mostBytes / 1024} KiB together, which is the most.`,
  });
}
