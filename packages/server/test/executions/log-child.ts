import { writeSync } from 'node:fs';
import { LogStore } from '../../src/executions/log-store.ts';
import { openLogDatabase } from '../../src/store/open.ts';
import { childOutput } from './log-child-output.ts';
import { roomy, writeBeyondStored } from './log-scene.ts';

/** A process of its own for the suite, to kill while it writes. Says how many bytes are durable. */
const [database = '', dataFolder = '', executionId = ''] = process.argv.slice(2);
const logs = new LogStore(
  await openLogDatabase({ database: database === '' ? undefined : database, dataFolder }),
);
const writer = await logs.open(executionId, roomy);
logs.onMore(executionId, () => {
  void logs.find(executionId).then((log) => writeSync(1, `${log?.size ?? 0}\n`));
});

await writeBeyondStored(writer, childOutput());
await writer.end();
