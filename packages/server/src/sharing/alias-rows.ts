import type { Kysely } from 'kysely';
import type { PermissionLevel } from '../contract/permission-level.ts';
import { canBeAlias } from '../reactors/alias-names.ts';
import type { Schema } from '../store/schema.ts';

/** Another name for a reactor, and who may do what with the name. */
export interface Alias {
  readonly alias: string;
  readonly reactorId: string;
  readonly ownerId: string;
  readonly ownerUsername: string;
  readonly permissions: ReadonlyMap<string, { username: string; level: PermissionLevel }>;
  readonly worldLevel: PermissionLevel | undefined;
  /** Whoever owns the reactor may do everything with its aliases too. */
  readonly reactorOwnerId: string;
}

export const aliasRows = (read: Kysely<Schema>) =>
  read
    .selectFrom('aliases')
    .innerJoin('users', 'users.id', 'aliases.owner_id')
    .innerJoin('reactors', 'reactors.id', 'aliases.reactor_id')
    .select([
      'aliases.alias',
      'aliases.reactor_id as reactorId',
      'aliases.owner_id as ownerId',
      'users.username as ownerUsername',
      'aliases.world_level as worldLevel',
      'reactors.owner_id as reactorOwnerId',
    ]);

/** Their own, those of their reactors, and those shared with them or with everyone. */
export const visibleTo = (read: Kysely<Schema>, userId: string) =>
  read
    .selectFrom('aliases')
    .select('alias')
    .where('owner_id', '=', userId)
    .union(
      read
        .selectFrom('aliases')
        .innerJoin('reactors', 'reactors.id', 'aliases.reactor_id')
        .select('alias')
        .where('reactors.owner_id', '=', userId),
    )
    .union(read.selectFrom('alias_permissions').select('alias').where('user_id', '=', userId))
    .union(read.selectFrom('aliases').select('alias').where('world_level', 'is not', null));

export async function readAlias(read: Kysely<Schema>, name: string): Promise<Alias | undefined> {
  if (!canBeAlias(name)) return undefined;
  const row = await aliasRows(read).where('aliases.alias', '=', name).executeTakeFirst();
  if (row === undefined) return undefined;
  const given = await read
    .selectFrom('alias_permissions')
    .innerJoin('users', 'users.id', 'alias_permissions.user_id')
    .select(['user_id', 'username', 'level'])
    .where('alias', '=', name)
    .execute();
  return {
    ...row,
    worldLevel: row.worldLevel ?? undefined,
    permissions: new Map(
      given.map(({ user_id, username, level }) => [user_id, { username, level }]),
    ),
  };
}
