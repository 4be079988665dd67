import type { PermissionLevel } from '../contract/permission-level.ts';
import { prepared } from '../store/statement.ts';

export const insertAlias = prepared(
  (db, p: { alias: string; reactorId: string; ownerId: string; now: number }) =>
    db.insertInto('aliases').values({
      alias: p.alias,
      reactor_id: p.reactorId,
      owner_id: p.ownerId,
      created_at: p.now,
      updated_at: p.now,
    }),
);

/** Only from where whoever asked saw it. */
export const moveAlias = prepared(
  (db, p: { alias: string; from: string; to: string; now: number }) =>
    db
      .updateTable('aliases')
      .set({ reactor_id: p.to, updated_at: p.now })
      .where('alias', '=', p.alias)
      .where('reactor_id', '=', p.from),
);

export const deleteAlias = prepared((db, p: { alias: string; reactorId: string }) =>
  db.deleteFrom('aliases').where('alias', '=', p.alias).where('reactor_id', '=', p.reactorId),
);

export const insertAliasPermission = prepared(
  (db, p: { alias: string; userId: string; level: PermissionLevel }) =>
    db
      .insertInto('alias_permissions')
      .values({ alias: p.alias, user_id: p.userId, level: p.level })
      .onConflict((conflict) =>
        conflict
          .columns(['alias', 'user_id'])
          .doUpdateSet((eb) => ({ level: eb.ref('excluded.level') })),
      ),
);

export const deleteAliasPermission = prepared((db, p: { alias: string; userId: string }) =>
  db.deleteFrom('alias_permissions').where('alias', '=', p.alias).where('user_id', '=', p.userId),
);

export const setAliasWorld = prepared((db, p: { alias: string; level: PermissionLevel | null }) =>
  db.updateTable('aliases').set({ world_level: p.level }).where('alias', '=', p.alias),
);
