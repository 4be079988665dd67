import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Executions } from '../../src/executions/executions.ts';
import { LogFollowing } from '../../src/executions/log-follow.ts';
import { LogStore } from '../../src/executions/log-store.ts';
import { openLogDatabase, openStore } from '../../src/store/open.ts';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../harness/until.ts';
import type { Ground } from '../store/conformance.ts';
import { roomy, said } from './log-scene.ts';
import { addExecution } from './reactor-rows.ts';

/** One process of several on the same database. */
interface Process {
  readonly store: Store;
  readonly logs: LogStore;
  readonly executions: Executions;
  readonly following: LogFollowing;
}

/** Following, as seen from the process that runs the execution and from another. */
export function followConformance(dialect: string, newGround: () => Promise<Ground>): void {
  describe(`following on ${dialect}`, () => {
    let ground: Ground;
    let here: Process;
    let elsewhere: Process;
    let count = 0;
    const open = async (): Promise<Process> => {
      const store = await openStore(ground);
      const logs = new LogStore(await openLogDatabase(ground));
      const executions = new Executions(store);
      const following = new LogFollowing(logs, executions, { keepAliveMs: 300 });
      return { store, logs, executions, following };
    };
    before(async () => {
      ground = await newGround();
      here = await open();
      elsewhere = await open();
    });
    after(async () => {
      for (const { logs, store } of [here, elsewhere]) {
        await logs.close();
        await store.close();
      }
      await ground.remove();
    });

    const execution = async (status: 'SUBMITTED' | 'RUNNING' = 'RUNNING') => {
      count += 1;
      const id = `e${count}`;
      const given = { id, reactorId: 'r', ownerId: 'u', seq: count, finishedAt: null, status };
      await addExecution(here.store, given);
      return id;
    };
    const settle = async (id: string) => {
      await here.store.write(
        once((db) =>
          db
            .updateTable('executions')
            .set({ status: 'COMPLETE', exit_code: 0, finished_at: 1 })
            .where('id', '=', id),
        ),
      );
      here.executions.tellSettled(id);
    };
    const follow = (process: Process, id: string) => {
      const left = new AbortController();
      const wish = {
        executionId: id,
        stream: undefined,
        after: undefined,
        tail: undefined,
        stillAllowed: async () => true,
      };
      const events = process.following.events(wish, left.signal);
      const got = { text: '', leave: () => left.abort(), done: Promise.resolve() };
      got.done = (async () => {
        for await (const piece of events) got.text += piece.toString();
      })();
      return got;
    };

    for (const where of ['here', 'elsewhere'] as const) {
      test(`who follows ${where} sees lines as they come, and the end`, async () => {
        const id = await execution('SUBMITTED');
        const got = follow(where === 'here' ? here : elsewhere, id);
        const writer = await here.logs.open(id, roomy);
        const waits: number[] = [];
        for (let line = 0; line < 9; line += 1) {
          const start = performance.now();
          await writer.write(said(`line ${line}\n`));
          await until('the line', () => got.text.includes(`line ${line}\\n`));
          waits.push(performance.now() - start);
        }
        await writer.end();
        await settle(id);
        await got.done;
        assert.ok(got.text.endsWith('event: end\ndata: {"status":"COMPLETE","exitCode":0}\n\n'));
        const median = waits.sort((a, b) => a - b)[4] ?? 0;
        assert.ok(median < (where === 'here' ? 150 : 500), `${median} ms`);
      });
    }

    test('nothing is left of a follower that has gone', async () => {
      const id = await execution();
      const writer = await here.logs.open(id, roomy);
      const followers = Array.from({ length: 20 }, () => follow(here, id));
      await writer.write(said('line\n'));
      await until('all to have the line', () =>
        followers.every(({ text }) => text.includes('line')),
      );
      assert.equal(here.following.size, 20);
      for (const follower of followers) follower.leave();
      await Promise.all(followers.map(({ done }) => done));
      assert.equal(here.following.size, 0);
      await writer.end();
    });

    test('a connection on which nothing happens is kept alive', async () => {
      const id = await execution();
      const got = follow(elsewhere, id);
      await until('two signs of life', () => got.text.split(': still here\n\n').length > 2);
      got.leave();
      await got.done;
    });

    test('a stop ends them all', async () => {
      const ids = [await execution(), await execution()];
      const followers = ids.map((id) => follow(elsewhere, id));
      await until('both to be there', () => elsewhere.following.size === 2);
      elsewhere.following.stop();
      await Promise.all(followers.map(({ done }) => done));
      for (const { text } of followers) assert.ok(!text.includes('event: end'));
    });
  });
}
