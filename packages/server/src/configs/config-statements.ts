import { sql } from 'kysely';
import { once, prepared } from '../store/statement.ts';

/** What the store keeps of a value: in clear, or sealed. */
export interface KeptValue {
  readonly value: string | null;
  readonly sealed: Uint8Array | null;
  readonly key_id: string | null;
  readonly is_secret: number;
  readonly size: number;
}

export const insertConfig = (
  config: KeptValue & { readonly id: string; readonly owner_id: string; readonly name: string },
  now: number,
) => once((db) => db.insertInto('configs').values({ ...config, created_at: now, updated_at: now }));

/** Only if nobody has changed it since it was read. */
export const updateConfig = (
  id: string,
  readAt: { readonly updatedAt: number },
  kept: Partial<KeptValue>,
  now: number,
) =>
  once((db) =>
    db
      .updateTable('configs')
      .set({ ...kept, updated_at: now })
      .where('id', '=', id)
      .where('updated_at', '=', readAt.updatedAt),
  );

export const deleteConfig = prepared((db, p: { id: string }) =>
  db.deleteFrom('configs').where('id', '=', p.id),
);

export const linkConfig = prepared((db, p: { id: string; reactorId: string; name: string }) =>
  db
    .insertInto('config_reactors')
    .columns(['config_id', 'reactor_id', 'name'])
    .expression((eb) =>
      eb
        .selectFrom('reactors')
        .select([
          sql<string>`${p.id}`.as('config_id'),
          'reactors.id as reactor_id',
          sql<string>`${p.name}`.as('name'),
        ])
        .where('reactors.id', '=', p.reactorId),
    )
    .onConflict((conflict) => conflict.columns(['config_id', 'reactor_id']).doNothing()),
);

export const unlinkConfig = prepared((db, p: { id: string; reactorId: string }) =>
  db
    .deleteFrom('config_reactors')
    .where('config_id', '=', p.id)
    .where('reactor_id', '=', p.reactorId),
);
