import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conformance } from './conformance.ts';

conformance('sqlite', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'reactord-store-'));
  return {
    database: join(dataFolder, 'store.db'),
    dataFolder,
    remove: () => rm(dataFolder, { recursive: true }),
  };
});
