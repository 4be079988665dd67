import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open.ts';
import { testFiring } from './firing-conformance.ts';

testFiring('sqlite', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-firing-'));
  const one = await openStore({ database: undefined, dataFolder });
  const other = await openStore({ database: undefined, dataFolder });
  return {
    one,
    other,
    close: async () => {
      await one.close();
      await other.close();
      rmSync(dataFolder, { recursive: true });
    },
  };
});
