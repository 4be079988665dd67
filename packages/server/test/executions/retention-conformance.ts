import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { executionFrom } from '../../src/executions/execution.ts';
import { LogStore } from '../../src/executions/log-store.ts';
import { Results } from '../../src/executions/results.ts';
import { Retention } from '../../src/executions/retain.ts';
import { AccessChanges } from '../../src/identity/access-changes.ts';
import { Users } from '../../src/identity/users.ts';
import { openLogDatabase, openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet } from '../harness/beside-service.ts';
import type { Ground } from '../store/conformance.ts';
import { roomy, said } from './log-scene.ts';
import { type AddedExecution, addExecution, addReactor } from './reactor-rows.ts';

const hour = 3600;

/** What is removed, and when, on every database. */
export function retentionConformance(dialect: string, newGround: () => Promise<Ground>): void {
  describe(`retention on ${dialect}`, () => {
    let ground: Ground;
    let store: Store;
    let logStore: Store;
    let logs: LogStore;
    let results: Results;
    let ownerId: string;
    let seq = 0;
    before(async () => {
      ground = await newGround();
      store = await openStore(ground);
      logStore = await openLogDatabase(ground);
      logs = new LogStore(logStore);
      results = new Results(logStore, 1024 * 1024);
      const users = new Users(store, new AccessChanges(store, quiet));
      ownerId = (await users.create({ username: 'ada', password: 'a long enough word' })).id;
      await addReactor(store, 'r', ownerId);
    });
    after(async () => {
      await logs.close();
      await store.close();
      await ground.remove();
    });

    const execution = async (id: string, fields: Partial<AddedExecution> = {}) => {
      seq += 1;
      const finishedAt = Date.now() * 1000;
      const given = { id, reactorId: 'r', ownerId, seq, status: 'COMPLETE', finishedAt } as const;
      await addExecution(store, { ...given, ...fields });
    };
    const log = async (id: string, keepSeconds: number, bytes = 10) => {
      const writer = await logs.open(id, { ...roomy, keepSeconds });
      await writer.write(said('x'.repeat(bytes)));
      return writer;
    };
    const retention = (now = Date.now()) =>
      new Retention({
        store,
        logs,
        results,
        config: {
          log_retention: 24 * hour,
          result_retention: hour,
          dead_letter_retention: 86_400,
          execution_retention: 48 * hour,
        },
        log: { warn: (_, message) => assert.fail(message) },
        now: () => now,
      });
    const count = async (table: 'executions' | 'messages') =>
      (await store.read.selectFrom(table).selectAll().execute()).length;

    test('a log goes when its own time after the end is over, and not before', async () => {
      await execution('brief');
      await execution('long');
      await execution('runs', { status: 'RUNNING', finishedAt: null });
      await (await log('brief', 60)).end();
      await (await log('long', hour)).end();
      const open = await log('runs', 60);
      const start = Date.now();
      await retention(start + 30_000).round();
      assert.ok(await logs.find('brief'));
      await retention(start + 62_000).round();
      assert.equal(await logs.find('brief'), undefined);
      assert.ok(await logs.find('long'));
      await retention(start + 2 * hour * 1000).round();
      assert.equal(await logs.find('long'), undefined);
      // However long it has run: its time has not begun.
      await open.write(said('more'));
      await open.release();
      assert.equal((await logs.find('runs'))?.size, 14);
    });

    test('results that nobody took go a while after the last of them, and with their reactor', async () => {
      for (const id of ['gave', 'given']) await execution(id);
      const rows = await store.read.selectFrom('executions').selectAll().execute();
      const [gave, given] = ['gave', 'given'].map((id) => rows.find((row) => row.id === id));
      assert.ok(gave && given);
      for (let index = 0; index < 20; index += 1)
        await results.give(executionFrom(gave), Buffer.from(`${index}`));
      await retention(Date.now() + 30 * 60_000).round();
      assert.equal(await results.has('gave'), true);
      await retention(Date.now() + 61 * 60_000).round();
      assert.equal(await results.has('gave'), false);
      assert.equal(await results.newestOf('r'), undefined);
      await results.give(executionFrom(given), Buffer.from('x'));
      await retention().forgetReactor('r');
      assert.equal(await results.has('given'), false);
    });

    test('a log that nobody ended goes when its execution is over', async () => {
      await execution('lost', { status: 'ERROR' });
      await (await log('lost', 60)).release();
      const start = Date.now();
      await retention(start).round();
      assert.ok(await logs.find('lost'));
      await retention(start + 25 * hour * 1000).round();
      assert.equal(await logs.find('lost'), undefined);
    });

    test('records, messages and logs go together when records are too old', async () => {
      const old = (Date.now() - 49 * hour * 1000) * 1000;
      const before = await count('executions');
      for (let made = 0; made < 250; made += 1) await execution(`old${made}`, { finishedAt: old });
      await execution('large', { finishedAt: old, message: Buffer.alloc(6 * 1024 * 1024) });
      await execution('waits', { status: 'SUBMITTED', finishedAt: null });
      await (await log('old7', 365 * 24 * hour)).end();
      await retention().round();
      assert.equal(await count('executions'), before + 1);
      assert.equal(await count('messages'), before + 1);
      assert.equal(await logs.find('old7'), undefined);
    });

    test('the logs of a deleted reactor go, and those of others stay', async () => {
      await execution('other');
      await (await log('other', hour)).end();
      for (let made = 0; made < 120; made += 1) {
        await execution(`of${made}`, { reactorId: 'gone', seq: made + 1 });
        await (await log(`of${made}`, hour)).end();
      }
      await retention().forgetReactor('gone');
      const left = await logStore.read
        .selectFrom('logs')
        .select('execution_id')
        .where('execution_id', 'like', 'of%')
        .execute();
      assert.deepEqual(left, []);
      assert.ok(await logs.find('other'));
    });

    test('a stop interrupts it between two steps', async () => {
      for (let made = 0; made < 300; made += 1) await (await log(`stop${made}`, 0)).end();
      const stopped = retention(Date.now() + 1000);
      const round = stopped.round();
      await stopped.stop();
      await round;
      assert.notDeepEqual(await logs.expired(Date.now() + 1000, 1000), []);
      await retention(Date.now() + 1000).round();
      assert.deepEqual(await logs.expired(Date.now() + 1000, 1000), []);
    });
  });
}
