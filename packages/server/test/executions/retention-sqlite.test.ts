import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogStore } from '../../src/executions/log-store.ts';
import { openLogDatabase } from '../../src/store/open.ts';
import { roomy } from './log-scene.ts';
import { retentionConformance } from './retention-conformance.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'reactord-retention-'));

retentionConformance('sqlite', async () => {
  const dataFolder = await newFolder();
  return { database: undefined, dataFolder, remove: () => rm(dataFolder, { recursive: true }) };
});

test('the file of the logs shrinks when logs go', async () => {
  const dataFolder = await newFolder();
  const logs = new LogStore(await openLogDatabase({ database: undefined, dataFolder }));
  const writer = await logs.open('large', roomy);
  await writer.write({ stream: 'stdout', time: 1, bytes: Buffer.alloc(20_000_000, 'x') });
  await writer.end();
  await logs.drop(['large']);
  await logs.close();
  assert.ok(statSync(join(dataFolder, 'logs.db')).size < 1_000_000);
  await rm(dataFolder, { recursive: true });
});
