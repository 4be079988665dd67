import { AccessChanges } from '../../src/identity/access-changes.ts';
import { type NewUser, Users } from '../../src/identity/users.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { RunningService } from './running-service.ts';

export const quiet = { warn: () => {}, info: () => {} };

/** Opens the store of a running service beside it, as a second process would, for what the test cannot ask it to do. */
export async function besideService<Answer>(
  service: Pick<RunningService, 'data'>,
  work: (store: Store, changes: AccessChanges) => Promise<Answer>,
): Promise<Answer> {
  const store = await openStore({ database: undefined, dataFolder: service.data });
  try {
    return await work(store, new AccessChanges(store, quiet));
  } finally {
    await store.close();
  }
}

export function addUser(service: Pick<RunningService, 'data'>, user: NewUser) {
  return besideService(service, (store, changes) => new Users(store, changes).create(user));
}
