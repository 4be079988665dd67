import { createHmac, randomBytes } from 'node:crypto';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { secretFrom } from './secret-format.ts';

const keyName = 'refresh_successors';

const insertKey = prepared((db, p: { name: string; value: Uint8Array; now: number }) =>
  db
    .insertInto('service_keys')
    .values({ name: p.name, value: p.value, created_at: p.now })
    .onConflict((conflict) => conflict.column('name').doNothing()),
);

/** Derives the token that replaces a refresh token, the same each time: only hashes are kept, so it could not be looked up. */
export class RefreshSuccessors {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The key is made once per store, whichever process comes first. */
  static async open(store: Store): Promise<RefreshSuccessors> {
    const find = () =>
      store.read
        .selectFrom('service_keys')
        .select('value')
        .where('name', '=', keyName)
        .executeTakeFirst();
    const known = await find();
    if (known !== undefined) return new RefreshSuccessors(known.value);
    await store.write(insertKey({ name: keyName, value: randomBytes(32), now: Date.now() }));
    const made = await find();
    if (made === undefined) throw new Error('the key for refresh tokens was not kept');
    return new RefreshSuccessors(made.value);
  }

  of(refreshToken: string): string {
    return secretFrom(
      'refreshToken',
      createHmac('sha256', this.#key).update(refreshToken).digest(),
    );
  }
}
