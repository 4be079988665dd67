import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openScene } from '../../packages/server/test/harness/execution-scene.ts';
import { buildSamples } from './samples.ts';

test('every sample can be built, and the one in Python gives its result', async (t) => {
  const { code, said } = await buildSamples();
  assert.equal(code, 0, said);
  const scene = await openScene();
  t.after(scene.dispose);
  const { admin } = scene;
  const reactor = await admin.register({ image: 'reactord/python' });
  const { log, id } = await admin.runOnce(reactor, 'Abba');
  assert.match(log, /^Python 3\.\d+ counted 4 letters\.\n$/);
  const result = await admin.call('GET', `/${reactor}/executions/${id}/results`);
  assert.deepEqual(result.json(), { a: 2, b: 2 });
});
