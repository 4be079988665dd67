import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessChanges } from '../../src/identity/access-changes.ts';
import { Users } from '../../src/identity/users.ts';
import { openStore } from '../../src/store/open.ts';
import { quiet } from './beside-service.ts';

/** An empty store with one user, for behaviour that needs another clock or catalogue than the service has. */
export async function openOwnStore() {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-store-'));
  const store = await openStore({ database: undefined, dataFolder });
  const changes = new AccessChanges(store, quiet);
  const user = await new Users(store, changes).create({
    username: 'ada',
    password: 'a long enough word',
  });
  return {
    store,
    changes,
    user,
    close: async () => {
      await store.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
