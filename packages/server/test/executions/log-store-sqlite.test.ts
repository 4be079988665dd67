import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logConformance } from './log-conformance.ts';

logConformance('sqlite', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'reactord-logs-'));
  return { database: undefined, dataFolder, remove: () => rm(dataFolder, { recursive: true }) };
});
