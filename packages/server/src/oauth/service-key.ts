import { randomBytes } from 'node:crypto';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

const insertKey = prepared((db, p: { name: string; value: Uint8Array; now: number }) =>
  db
    .insertInto('service_keys')
    .values({ name: p.name, value: p.value, created_at: p.now })
    .onConflict((conflict) => conflict.column('name').doNothing()),
);

/** A key that all processes on one store share. It is made once per store, whichever process comes first. */
export async function serviceKey(store: Store, name: string): Promise<Uint8Array> {
  const find = () =>
    store.read
      .selectFrom('service_keys')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst();
  const known = await find();
  if (known !== undefined) return known.value;
  await store.write(insertKey({ name, value: randomBytes(32), now: Date.now() }));
  const made = await find();
  if (made === undefined) throw new Error(`the key ${name} was not kept`);
  return made.value;
}
