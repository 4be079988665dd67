import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressWords } from '../../src/reactors/progress-words.ts';
import { PullTurns } from '../../src/reactors/pull-turns.ts';

const never = new AbortController().signal;

test('Somebody whose pulls do not come to an end does not hold up the others', async () => {
  const turns = new PullTurns();
  const hung = Promise.withResolvers<void>();
  const running: string[] = [];
  const slow = Array.from({ length: 100 }, (_, number) =>
    turns.take('mallory', never, async () => {
      running.push(String(number));
      await hung.promise;
    }),
  );
  assert.equal(await turns.take('ada', never, async () => 'done'), 'done');
  assert.equal(running.length, 4);
  hung.resolve();
  await Promise.all(slow);
  assert.equal(running.length, 100);
});

test('Who gives up before the turn comes never has it', async () => {
  const turns = new PullTurns();
  const hung = Promise.withResolvers<void>();
  const slow = Array.from({ length: 4 }, () => turns.take('ada', never, () => hung.promise));
  const stop = new AbortController();
  let begun = false;
  const given = turns.take('ada', stop.signal, async () => {
    begun = true;
  });
  stop.abort(new Error('given up'));
  await assert.rejects(given, /given up/);
  hung.resolve();
  await Promise.all(slow);
  assert.equal(begun, false);
  await assert.rejects(
    turns.take('ada', stop.signal, async () => {}),
    /given up/,
  );
});

test('Progress is told in layers and megabytes', () => {
  const told = (layers: number, layersDone: number, bytes: number, bytesDone: number) =>
    progressWords({ layers, layersDone, bytes, bytesDone });
  assert.equal(told(5, 3, 120_000_000, 40_400_000), 'pulling: 3 of 5 layers, 40 of 120 MB');
  assert.equal(told(1, 0, 2_500_000, 0), 'pulling: 0 of 1 layer, 0.0 of 2.5 MB');
  assert.equal(told(2, 2, 0, 0), 'pulling: 2 of 2 layers');
  assert.equal(told(0, 0, 0, 0), 'pulling');
});
