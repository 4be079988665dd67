import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** The places in which executions run. */

let scene: Scene;

before(async () => {
  scene = await openScene({
    environment: { REACTORD_WORKER_IDLE_LIMIT: '3s', REACTORD_MOST_WORKERS: '4' },
  });
});

after(() => scene.dispose());

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

async function workersOf(id: string) {
  const reply = await scene.admin.call('GET', `/${id}/workers`);
  assert.equal(reply.status, 200, reply.text);
  return reply.json().result;
}

const keep = (id: string, num: unknown) =>
  scene.admin.call('POST', `/${id}/workers`, {
    body: JSON.stringify({ num }),
    type: 'application/json',
  });

test('executions run in workers that are used again, and idle ones go', async () => {
  const { admin } = scene;
  const id = await runs('echo $_svc_worker_id');
  assert.deepEqual(await workersOf(id), []);
  const first = await admin.runOnce(id);
  const second = await admin.runOnce(id);
  const [worker, ...more] = await workersOf(id);
  assert.deepEqual(more, []);
  assert.deepEqual([first.record.workerId, second.record.workerId], [worker.id, worker.id]);
  assert.equal(second.log, `${worker.id}\n`);
  assert.deepEqual([worker.status, worker.cid, worker.actorId], ['READY', null, id]);
  assert.ok(Date.parse(worker.lastExecutionTime) >= Date.parse(worker.createTime));
  await until('the idle worker to go', async () => (await workersOf(id)).length === 0);
});

test('a busy worker says so, and goes after its execution when it is removed', async () => {
  const { admin } = scene;
  const id = await runs('while [ ! -e /tmp/never ]; do sleep 0.1; done', { max_workers: 2 });
  const executions = [await admin.send(id), await admin.send(id)];
  for (const execution of executions) await admin.running(id, execution);
  const busy = await workersOf(id);
  assert.deepEqual(
    busy.map(({ status, cid }: { status: string; cid: string }) => [status, cid.length]),
    [
      ['BUSY', 64],
      ['BUSY', 64],
    ],
  );
  const [worker] = busy;
  const { workerId } = await admin.record(id, executions[0] ?? '');
  assert.equal(workerId, worker.id);
  assert.equal((await admin.call('DELETE', `/${id}/workers/${worker.id}`)).status, 200);
  const shown = await admin.call('GET', `/${id}/workers/${worker.id}`);
  assert.equal(shown.json().result.status, 'SHUTTING_DOWN');
  assert.equal((await admin.record(id, executions[0] ?? '')).status, 'RUNNING');
  await admin.call('DELETE', `/${id}/executions/${executions[0]}`);
  await admin.ended(id, executions[0] ?? '');
  await until('the worker to go', async () => (await workersOf(id)).length === 1);
  await admin.call('DELETE', `/${id}`);
});

test('so many workers are kept as were asked for, also across a restart, until they are removed', async () => {
  const { admin } = scene;
  const id = await runs('true', { stateless: false });
  const replies = await Promise.all([keep(id, 2), keep(id, 3), keep(id, 3)]);
  for (const reply of replies) assert.equal(reply.status, 200, reply.text);
  const kept = await workersOf(id);
  assert.equal(kept.length, 3);
  assert.equal((await keep(id, 1)).json().result.length, 3);
  await scene.restart('SIGTERM');
  const { record } = await admin.runOnce(id);
  assert.equal(record.workerId, kept[0].id);
  const age = Date.parse(kept[0].createTime);
  await until('idle workers to be looked at', async () =>
    (await workersOf(id)).some(
      (worker: { lastHealthCheckTime: string }) =>
        Date.parse(worker.lastHealthCheckTime) > age + 4_000,
    ),
  );
  assert.equal((await workersOf(id)).length, 3);
  assert.equal((await admin.call('DELETE', `/${id}/workers/${kept[1].id}`)).status, 200);
  assert.equal((await workersOf(id)).length, 2);
  assert.equal((await admin.call('DELETE', `/${id}/workers/${kept[1].id}`)).status, 404);
});

test('workers of a reactor that waits for its image are requested, and the number is bounded', async () => {
  const { admin } = scene;
  const id = await admin.registerOnly({ image: 'localhost:1/no/such:image' });
  const reply = await keep(id, 1);
  assert.ok(['REQUESTED', 'ERROR'].includes(reply.json().result[0].status), reply.text);
  for (const num of [0, 5, 'x', null]) assert.equal((await keep(id, num)).status, 400);
  assert.match((await keep(id, 5)).json().message, /num: takes a whole number from 1 to 4/);
  assert.equal((await keep('nosuchreactor1', 1)).status, 404);
  assert.equal((await admin.call('DELETE', `/${id}`)).status, 200);
});

test('the utilization counts reactors and workers', async () => {
  const { admin } = scene;
  const before = (await admin.call('GET', '/utilization')).json().result;
  const id = await runs('true');
  await keep(id, 2);
  const after = (await admin.call('GET', '/utilization')).json().result;
  assert.equal(after.currentActors, before.currentActors + 1);
  assert.equal(after.totalActors, before.totalActors + 1);
  assert.ok(after.workers >= 2);
  assert.equal(after.commandQueue, 0);
  await admin.call('DELETE', `/${id}`);
  const last = (await admin.call('GET', '/utilization')).json().result;
  assert.equal(last.currentActors, before.currentActors);
  assert.equal(last.totalActors, after.totalActors);
});
