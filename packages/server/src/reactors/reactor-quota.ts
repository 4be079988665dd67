import { sql } from 'kysely';
import { type QuotaDefaults, quotaOf, readQuotas } from '../identity/quotas.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** Changes nothing; meets one row when the owner may have one more. */
const meetOwner = prepared((db, p: { ownerId: string; most: number }) =>
  db
    .updateTable('users')
    .set((eb) => ({ status: eb.ref('status') }))
    .where('id', '=', p.ownerId)
    .where(
      (eb) =>
        eb
          .selectFrom('reactors')
          .select((count) => count.fn.countAll<number>().as('reactors'))
          .where('owner_id', '=', p.ownerId)
          .where('reactors.status', '!=', sql.lit('SHUTTING_DOWN')),
      '<',
      sql<number>`cast(${p.most} as bigint)`,
    ),
);

/** How many reactors a user may have, and the statement that refuses one too many; undefined: no limit. */
export async function reactorQuota(
  store: Store,
  ownerId: string,
  defaults: QuotaDefaults | undefined,
): Promise<{ readonly most: number; readonly check: Statement } | undefined> {
  if (defaults === undefined) return undefined;
  const row = await store.read
    .selectFrom('users')
    .select(['quotas', 'roles'])
    .where('id', '=', ownerId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const holder = {
    ownerQuotas: readQuotas(row.quotas),
    ownerIsAdmin: row.roles.includes('"admin"'),
  };
  const most = quotaOf(holder, 'reactors', defaults);
  if (most === undefined) return undefined;
  return { most, check: expectRows(meetOwner({ ownerId, most }), 1) };
}
