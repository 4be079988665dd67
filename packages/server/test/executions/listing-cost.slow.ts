import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { besideService } from '../harness/beside-service.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { addManyExecutions, addReactor } from './reactor-rows.ts';

/** What a page of a long list costs. */

const count = 200_000;
const reactorId = 'manyexecutions';
let scene: Scene;

before(async () => {
  scene = await openScene();
  await besideService(scene.service, async (store) => {
    const admin = await store.read.selectFrom('users').select('id').executeTakeFirstOrThrow();
    await addReactor(store, reactorId, admin.id);
    await addManyExecutions(store, reactorId, admin.id, count);
  });
});

after(() => scene.dispose());

test('the last page by cursor costs what the first one does', async () => {
  const page = async (query: string) => {
    const start = performance.now();
    const reply = await scene.admin.call('GET', `/${reactorId}/executions`, { query });
    const took = performance.now() - start;
    assert.equal(reply.status, 200, reply.text);
    return { took, result: reply.json().result };
  };
  const first: number[] = [];
  const last: number[] = [];
  // In turns, so that whatever else the machine does meets both.
  for (let round = 0; round < 31; round += 1) {
    const newest = await page('?limit=100');
    const oldest = await page('?limit=100&cursor=101');
    first.push(newest.took);
    last.push(oldest.took);
    assert.equal(newest.result.executions[0].id, `${reactorId}x${count}`);
    assert.equal(newest.result.totalExecutions, count);
    assert.deepEqual(
      [oldest.result.executions.length, oldest.result.executions.at(-1).id],
      [100, `${reactorId}x1`],
    );
    assert.equal(oldest.result._links.next, undefined);
  }
  const [near, far] = [median(first), median(last)];
  assert.ok(far < near * 2 + 2, `first ${near.toFixed(1)} ms, last ${far.toFixed(1)} ms`);
  const counted = await page(`?limit=100&offset=${count - 100}`);
  assert.equal(counted.result.executions.at(-1).id, `${reactorId}x1`);
});

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
