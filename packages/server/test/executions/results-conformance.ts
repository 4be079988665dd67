import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AnswerWaiting } from '../../src/executions/answer-waiting.ts';
import { executionFrom } from '../../src/executions/execution.ts';
import { Executions } from '../../src/executions/executions.ts';
import { Results } from '../../src/executions/results.ts';
import { ReactorStates } from '../../src/reactors/reactor-states.ts';
import { openLogDatabase, openStore } from '../../src/store/open.ts';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import type { Ground } from '../store/conformance.ts';
import { addExecution, addReactor } from './reactor-rows.ts';

/** Results and states as two processes meet them, on every database. */
export function resultsConformance(dialect: string, newGround: () => Promise<Ground>): void {
  describe(`results and states on ${dialect}`, () => {
    const limit = 64 * 1024;
    let ground: Ground;
    let store: Store;
    let other: Store;
    let databases: Store[];
    let one: Results;
    let two: Results;
    let seq = 0;
    before(async () => {
      ground = await newGround();
      store = await openStore(ground);
      other = await openStore(ground);
      const [first, second] = [await openLogDatabase(ground), await openLogDatabase(ground)];
      databases = [first, second];
      one = new Results(first, limit);
      two = new Results(second, limit);
      await addReactor(store, 'r', 'nobody');
    });
    after(async () => {
      for (const database of [...databases, store, other]) await database.close();
      await ground.remove();
    });

    const execution = async (id: string) => {
      seq += 1;
      const status = 'RUNNING';
      await addExecution(store, {
        id,
        reactorId: 'r',
        ownerId: 'nobody',
        seq,
        status,
        finishedAt: null,
      });
      const row = await store.read
        .selectFrom('executions')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return { ...executionFrom(row), workerId: `worker of ${id}` };
    };
    const bytes = (text: string) => Buffer.from(text);

    test('they are numbered in order, and each goes to one of two processes', async () => {
      const gives = await execution('many');
      for (let index = 1; index <= 40; index += 1)
        assert.equal(await (index % 2 === 0 ? one : two).give(gives, bytes(`${index}`)), index);
      const takeAll = async (results: Results) => {
        const taken: number[] = [];
        for (;;) {
          const result = await results.take('many');
          if (result === undefined) return taken;
          assert.equal(Buffer.from(result.body).toString(), String(result.place));
          taken.push(result.place);
        }
      };
      const each = await Promise.all([takeAll(one), takeAll(two), takeAll(one), takeAll(two)]);
      for (const taken of each)
        assert.deepEqual(
          taken,
          [...taken].sort((a, b) => a - b),
        );
      assert.deepEqual(
        each.flat().sort((a, b) => a - b),
        Array.from({ length: 40 }, (_, index) => index + 1),
      );
      assert.equal(await one.newestOf('r'), 'many');
    });

    test('the limit holds for all together, small ones count 1 KiB, and what was taken counts on', async () => {
      const gives = await execution('full');
      const giving = Array.from({ length: 80 }, (_, index) =>
        (index % 2 === 0 ? one : two).give(gives, bytes('small')).then(
          () => true,
          (error) => {
            assert.equal(error.code, 'results_full', error);
            return false;
          },
        ),
      );
      assert.equal((await Promise.all(giving)).filter(Boolean).length, 64);
      await one.take('full');
      await assert.rejects(one.give(gives, bytes('x')), { code: 'results_full' });
      await assert.rejects(one.give(await execution('big'), Buffer.alloc(limit + 1)), {
        code: 'results_full',
      });
      assert.equal(await one.has('big'), false);
    });

    test('datagrams are kept together with how far they were read, for their own run', async () => {
      const gives = await execution('sent');
      assert.deepEqual(await one.spoolState(gives), { place: 0, bytes: 0 });
      const first = await one.keep(
        gives,
        [
          { bytes: bytes('a'), next: 10 },
          { bytes: Buffer.alloc(limit), next: 20 },
          { bytes: bytes('b'), next: 30 },
        ],
        { place: 0, bytes: 0 },
      );
      assert.deepEqual(first, { place: 30, bytes: 2048, dropped: 1 });
      assert.deepEqual(await two.spoolState(gives), { place: 30, bytes: 2048 });
      // Another attempt has datagrams of its own, from the beginning.
      const again = { ...gives, workerId: 'another' };
      assert.deepEqual(await one.spoolState(again), { place: 0, bytes: 2048 });
      assert.equal((await one.peek('sent', 1))?.place, 2);
    });

    test('whoever waits hears of what another process runs', async () => {
      const waiting = new AnswerWaiting({
        executions: new Executions(store),
        results: one,
        most: 2,
      });
      const [gives, ends] = [await execution('gives'), await execution('ends')];
      const [first, second] = [waiting.enter(), waiting.enter()];
      assert.throws(() => waiting.enter(), { code: 'too_many_requests' });
      const never = new AbortController().signal;
      const result = first.answer('gives', 30, never);
      const end = second.answer('ends', 30, never);
      await two.give(gives, bytes('the answer'));
      await other.write(
        once((db) =>
          db.updateTable('executions').set({ status: 'ERROR' }).where('id', '=', ends.id),
        ),
      );
      assert.equal(Buffer.from((await result)?.result?.body ?? []).toString(), 'the answer');
      assert.deepEqual(await end.then((answer) => [answer?.execution.status, answer?.result]), [
        'ERROR',
        undefined,
      ]);
      for (const place of [first, first, second]) place.leave();
      waiting.enter().leave();
      waiting.stop();
      assert.equal(await waiting.enter().answer('gives', 30, never), undefined);
    });

    test('of conditional updates of a state by two processes one wins', async () => {
      const states = [new ReactorStates(store), new ReactorStates(other)];
      for (let version = 0; version < 10; version += 1) {
        const won = await Promise.all(
          Array.from({ length: 20 }, (_, who) =>
            states[who % 2]?.replace('r', JSON.stringify({ who }), version),
          ),
        );
        assert.deepEqual(
          won.filter((found) => found !== undefined),
          [version + 1],
        );
      }
      assert.equal(await states[0]?.replace('r', '1', undefined), 11);
      assert.deepEqual(await states[1]?.read('r'), { text: '1', version: 11 });
      await assert.rejects(
        async () => states[0]?.replace('none', '1', undefined),
        /no reactor called none/,
      );
    });
  });
}
