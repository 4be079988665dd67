import { ServiceError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { generatePassword } from './generated-password.ts';
import { serviceUser } from './service-user.ts';
import type { Users } from './users.ts';

export interface FirstAdmin {
  readonly username: string;
  readonly password: string;
}

interface Wanted {
  readonly username: string;
  /** Generated when it is not given. */
  readonly password: string | undefined;
}

/** Makes the first admin in an empty store; undefined when there are users already. The password is kept only as a hash. */
export async function makeFirstAdmin(
  store: Store,
  users: Users,
  wanted: Wanted,
): Promise<FirstAdmin | undefined> {
  const anyUser = await store.read
    .selectFrom('users')
    .select('id')
    .where('id', '!=', serviceUser.id)
    .limit(1)
    .executeTakeFirst();
  if (anyUser !== undefined) return undefined;
  const { username, password = generatePassword() } = wanted;
  try {
    await users.create({ username, password, roles: ['admin'], grants: ['reactors'] });
  } catch (error) {
    // Another process on the same database was first, and has printed its password.
    if (error instanceof ServiceError && error.code === 'name_taken') return undefined;
    throw error;
  }
  return { username, password };
}
