import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followConformance } from './follow-conformance.ts';

followConformance('sqlite', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'reactord-follow-'));
  return { database: undefined, dataFolder, remove: () => rm(dataFolder, { recursive: true }) };
});
