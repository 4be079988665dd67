import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assembleIdentity } from '../../src/identity/identity.ts';
import { openStore } from '../../src/store/open.ts';
import { quiet } from './beside-service.ts';

const limits = { session_idle_limit: 3600, session_lifetime: 86_400 };

/** The identity part over a store of its own. `again` opens the same store as a second process would. */
export async function openIdentityScene(
  given: { database?: string | undefined; config?: Partial<typeof limits> } = {},
) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-identity-'));
  const config = { ...limits, ...given.config };
  const open = async () => {
    const store = await openStore({ database: given.database, dataFolder });
    return { store, ...assembleIdentity({ store, config, log: quiet }) };
  };
  const first = await open();
  const stores = [first.store];
  return {
    ...first,
    again: async () => {
      const other = await open();
      stores.push(other.store);
      return other;
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
