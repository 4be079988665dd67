import { sql } from 'kysely';
import type { PermissionLevel } from '../contract/permission-level.ts';
import { fail } from '../errors.ts';
import type { Users } from '../identity/users.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { unknownReactor, worldNames } from '../reactors/reactor-access.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import { ForeignKeyViolation, UnexpectedRows } from '../store/store-errors.ts';
import { type GivenPermission, refuseOwner, refuseTooMany } from './permission-fields.ts';

const insertPermission = prepared(
  (db, p: { reactorId: string; userId: string; level: PermissionLevel }) =>
    db
      .insertInto('reactor_permissions')
      .columns(['reactor_id', 'user_id', 'level', 'reactor_created_at'])
      .expression((eb) =>
        eb
          .selectFrom('reactors')
          .select([
            'id',
            sql<string>`${p.userId}`.as('user_id'),
            sql<PermissionLevel>`${p.level}`.as('level'),
            'created_at',
          ])
          .where('id', '=', p.reactorId),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['reactor_id', 'user_id'])
          .doUpdateSet((eb) => ({ level: eb.ref('excluded.level') })),
      ),
);

const deletePermission = prepared((db, p: { reactorId: string; userId: string }) =>
  db
    .deleteFrom('reactor_permissions')
    .where('reactor_id', '=', p.reactorId)
    .where('user_id', '=', p.userId),
);

const setWorld = prepared((db, p: { reactorId: string; level: PermissionLevel | null }) =>
  db.updateTable('reactors').set({ world_level: p.level }).where('id', '=', p.reactorId),
);

export interface PermissionParts {
  readonly reactors: Pick<Reactors, 'commit'>;
  readonly users: Pick<Users, 'byUsername'>;
}

/** Gives or takes a permission on a reactor. All processes know of it within a second or so, this one at once. */
export async function givePermission(
  { reactors, users }: PermissionParts,
  reactor: Reactor,
  given: GivenPermission,
): Promise<void> {
  const reactorId = reactor.id;
  const level = given.level === 'NONE' ? undefined : given.level;
  let statement: Statement;
  if (worldNames.has(given.user)) {
    statement = expectRows(setWorld({ reactorId, level: level ?? null }), 1);
  } else {
    refuseOwner(given, reactor.ownerUsername);
    const user = await users.byUsername(given.user);
    if (user === undefined) throw unknownUser(given.user);
    if (user.id === reactor.ownerId) return;
    const userId = user.id;
    refuseTooMany(reactor.permissions.size, !reactor.permissions.has(userId));
    statement =
      level === undefined
        ? deletePermission({ reactorId, userId })
        : expectRows(insertPermission({ reactorId, userId, level }), 1);
  }
  try {
    await reactors.commit(reactorId, statement);
  } catch (error) {
    if (error instanceof UnexpectedRows) throw unknownReactor(reactorId);
    if (error instanceof ForeignKeyViolation) throw unknownUser(given.user);
    throw error;
  }
}

export const unknownUser = (name: string) => fail('unknown_resource', { kind: 'user', name });
