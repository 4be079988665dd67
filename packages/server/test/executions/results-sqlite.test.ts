import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultsConformance } from './results-conformance.ts';

resultsConformance('sqlite', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'reactord-results-'));
  return { database: undefined, dataFolder, remove: () => rm(dataFolder, { recursive: true }) };
});
