import { newId, randomText } from '../ids.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UniqueViolation } from '../store/store-errors.ts';
import { hashPassword } from './password-hash.ts';

export interface FirstAdmin {
  readonly username: string;
  readonly password: string;
}

interface Wanted {
  readonly username: string;
  /** Generated when it is not given. */
  readonly password: string | undefined;
}

const insertAdmin = prepared(
  (db, p: { id: string; username: string; passwordHash: string; now: number }) =>
    db.insertInto('users').values({
      id: p.id,
      username: p.username,
      password_hash: p.passwordHash,
      email: '',
      first_name: '',
      last_name: '',
      status: 'active',
      roles: '["admin"]',
      grants: '["reactors"]',
      created_at: p.now,
      updated_at: p.now,
    }),
);

/** Makes the first admin in an empty store; undefined when there are users already. The password is kept only as a hash. */
export async function makeFirstAdmin(
  store: Store,
  wanted: Wanted,
): Promise<FirstAdmin | undefined> {
  const anyUser = await store.read.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (anyUser !== undefined) return undefined;
  const password = wanted.password ?? generatePassword();
  const passwordHash = await hashPassword(password);
  try {
    await store.write(
      insertAdmin({ id: newId(), username: wanted.username, passwordHash, now: Date.now() }),
    );
  } catch (error) {
    // Another process on the same database was first, and has printed its password.
    if (error instanceof UniqueViolation) return undefined;
    throw error;
  }
  return { username: wanted.username, password };
}

/** Four groups of five, 116 bits: strong, and still possible to type. */
const generatePassword = (): string => Array.from({ length: 4 }, () => randomText(5)).join('-');
