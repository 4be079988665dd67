import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { startPostgres } from '../../../../setup/postgres.ts';
import { LogStore } from '../../src/executions/log-store.ts';
import { openLogDatabase } from '../../src/store/open.ts';
import { postgresGrounds } from '../harness/postgres-grounds.ts';
import { logConformance } from './log-conformance.ts';
import { kept, roomy, said, writeAll, written } from './log-scene.ts';

logConformance('postgres', postgresGrounds());

test('while the server is away the writer waits, and then nothing is missing or doubled', async () => {
  const own = await startPostgres();
  const logs = new LogStore(await openLogDatabase({ database: own.url, dataFolder: tmpdir() }));
  const output = Array.from({ length: 300 }, (_, line) => said(`line ${line}\n`.repeat(100)));
  const writer = await logs.open('e', roomy);
  await writeAll(writer, output.slice(0, 100));
  await own.halt();
  const rest = writeAll(writer, output.slice(100)).then(() => writer.end());
  await own.resume();
  await rest;
  assert.ok((await kept(logs, 'e')).equals(written(output)));
  await logs.close();
  await own.stop();
});
