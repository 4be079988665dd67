import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** What waits in an inbox: seen, purged, and dropped with its reactor. */

let scene: Scene;

before(async () => {
  scene = await openScene({ environment: { REACTORD_STOP_GRACE: '1s' } });
});

after(() => scene.dispose());

/** A reactor whose first message runs until it is told to end, and three that wait behind it. */
async function busy() {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: 'trap "exit 3" TERM; echo begun; while :; do sleep 0.1; done' },
  });
  const first = await admin.send(id, 'first');
  await admin.running(id, first);
  const waiting = [];
  for (const message of ['a', 'bc', 'def']) waiting.push(await admin.send(id, message));
  return { id, first, waiting };
}

test('the inbox counts what waits and not what runs, and shows the oldest', async () => {
  const { admin, service } = scene;
  const { id, waiting } = await busy();
  const plain = (await admin.call('GET', `/${id}/messages`)).json().result;
  assert.deepEqual(plain, {
    messages: 3,
    delayed: 0,
    _links: {
      self: `${service.url}/actors/v2/${id}/messages`,
      owner: `${service.url}/profiles/v2/admin`,
    },
  });
  const { result } = (await admin.call('GET', `/${id}/messages`, { query: '?peek=2' })).json();
  assert.equal(result.messages, 3);
  assert.deepEqual(
    result.waiting.map(({ executionId, size }: { executionId: string; size: number }) => [
      executionId,
      size,
    ]),
    [
      [waiting[0], 1],
      [waiting[1], 2],
    ],
  );
  assert.match(result.waiting[0].receivedTime, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
  assert.equal(result.waiting[0].contentType, 'str');
  assert.equal((await admin.call('GET', `/${id}/messages`, { query: '?peek=0' })).status, 400);
});

test('a purge drops what waits, says who did it, and leaves what runs alone', async () => {
  const { admin } = scene;
  const { id, first, waiting } = await busy();
  const { result } = (await admin.call('DELETE', `/${id}/messages`)).json();
  assert.equal(result.dropped, 3);
  for (const executionId of waiting) {
    const record = await admin.record(id, executionId);
    assert.equal(record.status, 'ERROR');
    assert.match(record.statusMessage, /admin purged/);
    assert.notEqual(record.finishTime, null);
  }
  assert.equal((await admin.record(id, first)).status, 'RUNNING');
  assert.equal((await admin.call('GET', `/${id}/messages`)).json().result.messages, 0);
  const later = await admin.send(id, 'later');
  assert.equal((await admin.call('GET', `/${id}/messages`)).json().result.messages, 1);
  assert.equal((await admin.call('DELETE', `/${id}/executions/${first}`)).status, 200);
  await admin.running(id, later);
});

test('deleting a reactor stops what runs, drops what waits, and keeps the records', async () => {
  const { admin } = scene;
  const { id, first, waiting } = await busy();
  const reply = await admin.call('DELETE', `/${id}`);
  assert.equal(reply.status, 200, reply.text);
  const record = await admin.record(id, first);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.exitCode, 3);
  assert.equal(record.finalState.Error, 'stopped: admin deleted the reactor');
  for (const executionId of waiting) {
    const dropped = await admin.record(id, executionId);
    assert.equal(dropped.status, 'ERROR');
    assert.match(dropped.statusMessage, /admin deleted the reactor/);
  }
  assert.equal((await admin.post(id, { body: 'late' })).status, 404);
  await until('the log to be gone', async () => (await admin.log(id, first)) === '');
});
