import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/ids.ts';
import { type Subject, specOf, startUntil } from './subject.ts';

/** The last part of the suite: it removes everything. */
export function testLeftovers(get: () => Subject): void {
  describe('leftovers', () => {
    test('containers of a killed service are found again by label, and their places are kept for them', async (t) => {
      const { engine } = get();
      const labels = { 'test.run': newId() };
      const { id } = await startUntil(
        engine,
        specOf(get(), 'echo up; sleep 600', { labels }),
        'up',
      );
      const second = get().again();
      t.after(() => second.close());
      assert.deepEqual(
        (await second.list(labels)).map((one) => [one.id, one.state]),
        [[id, 'running']],
      );
      await second.tidy();
      assert.equal((await second.list(labels))[0]?.state, 'running');
      assert.equal((await engine.usage(id))?.exact, true);
      await second.removeLeftovers(labels);
      assert.deepEqual(await second.list(labels), []);
    });

    test('only what carries the labels is removed', async () => {
      const { engine } = get();
      const [one, other] = [{ 'test.run': newId() }, { 'test.run': newId() }];
      const kept = await startUntil(
        engine,
        specOf(get(), 'echo up; sleep 600', { labels: one }),
        'up',
      );
      await startUntil(engine, specOf(get(), 'echo up; sleep 600', { labels: other }), 'up');
      await engine.removeLeftovers(other);
      assert.deepEqual(await engine.list(other), []);
      assert.deepEqual(
        (await engine.list(one)).map(({ id, state }) => [id, state]),
        [[kept.id, 'running']],
      );
      await engine.remove(kept.id);
    });

    test('after everything is removed, nothing of the service is on the engine or in the kernel', async () => {
      const { engine } = get();
      await engine.create(specOf(get(), 'true'));
      await startUntil(engine, specOf(get(), 'echo up; sleep 600'), 'up');
      assert.notDeepEqual(await get().traces(), []);
      await engine.removeLeftovers({});
      assert.deepEqual(await get().traces(), []);
    });
  });
}
