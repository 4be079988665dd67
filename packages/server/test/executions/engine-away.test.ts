import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type EngineProxy, startEngineProxy } from '../harness/engine-proxy.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { testEngineSocket } from '../harness/run-image.ts';
import { withSpares } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** What becomes of executions when the engine goes away and comes back. */

let proxy: EngineProxy;
let scene: Scene;

before(async () => {
  proxy = await startEngineProxy(testEngineSocket());
  scene = await openScene({ environment: { ...withSpares, REACTORD_ENGINE: proxy.address } });
});

after(async () => {
  await scene.dispose();
  await proxy.dispose();
});

const counting =
  'i=1; while [ $i -le 40 ]; do echo line $i; i=$((i+1)); sleep 0.1; done; printf last; exit 4';
const lines = `${Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join('')}last`;

test('the output of a running execution is whole, each line once, though the engine was away twice', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: counting },
  });
  const execution = await admin.send(id);
  const waiting = await admin.send(id);
  for (const line of ['line 5\n', 'line 15\n']) {
    await until(`${line} to be stored`, async () =>
      (await admin.log(id, execution)).includes(line),
    );
    await proxy.cut();
    // While the engine is away, messages are accepted.
    await admin.send(id);
    await proxy.restore();
  }
  const record = await admin.ended(id, execution);
  assert.equal(record.status, 'COMPLETE', record.statusMessage);
  assert.equal(record.exitCode, 4);
  assert.equal(await admin.log(id, execution), lines);
  const next = await admin.running(id, waiting);
  assert.ok(record.finishTime <= next.startTime);
  await admin.call('DELETE', `/${id}`);
});

test('messages that arrive while the engine is away run in their order once it is back', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: 'echo $MSG' },
  });
  await proxy.cut();
  const executions: string[] = [];
  for (let at = 0; at < 5; at += 1) executions.push(await admin.send(id, `${at}`));
  await proxy.restore();
  let before = '';
  for (const [at, execution] of executions.entries()) {
    const record = await admin.ended(id, execution);
    assert.equal(record.status, 'COMPLETE', record.statusMessage);
    assert.equal(await admin.log(id, execution), `${at}\n`);
    assert.ok(before <= record.startTime);
    before = record.finishTime;
  }
});

test('a spare that the engine has lost is no loss: the message runs once it is back, and one that runs goes on', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: `echo $MSG; [ $MSG = lost ] || { ${counting}; }` },
    warm: 1,
  });
  const keep = { body: JSON.stringify({ num: 1 }), type: 'application/json' };
  await admin.call('POST', `/${id}/workers`, keep);
  const ready = () =>
    until('a spare to be ready', async () => {
      const [worker] = (await admin.call('GET', `/${id}/workers`)).json().result;
      return worker?.status === 'READY' && worker.cid !== null;
    });
  await ready();
  await proxy.cut();
  const lost = await admin.send(id, 'lost');
  await proxy.restore();
  assert.equal((await admin.ended(id, lost)).exitCode, 0);
  assert.equal(await admin.log(id, lost), 'lost\n');
  await ready();
  const kept = await admin.send(id, 'kept');
  await until('its first lines', async () => (await admin.log(id, kept)).includes('line 5\n'));
  await proxy.cut();
  await proxy.restore();
  assert.equal((await admin.ended(id, kept)).exitCode, 4);
  assert.equal(await admin.log(id, kept), `kept\n${lines}`);
  await admin.call('DELETE', `/${id}`);
});

test('a service that starts without an engine accepts messages, and takes up what ran when it comes', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: counting },
  });
  const execution = await admin.send(id);
  await admin.running(id, execution);
  scene.service.signal('SIGKILL');
  await scene.service.ended;
  await proxy.cut();
  await scene.restart('SIGKILL');
  const later = await admin.send(id);
  assert.equal((await admin.record(id, later)).status, 'SUBMITTED');
  await proxy.restore();
  const record = await admin.ended(id, execution);
  assert.equal(record.exitCode, 4, record.statusMessage);
  assert.equal(await admin.log(id, execution), lines);
  assert.equal((await admin.ended(id, later)).exitCode, 4);
});

test('a halt reaches an execution although the engine was away when it was asked for', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: 'trap "exit 8" TERM; while :; do sleep 0.1; done' },
  });
  const execution = await admin.send(id);
  await admin.running(id, execution);
  await proxy.cut();
  assert.equal((await admin.call('DELETE', `/${id}/executions/${execution}`)).status, 200);
  await proxy.restore();
  const record = await admin.ended(id, execution);
  assert.equal(record.exitCode, 8);
  assert.equal(record.finalState.Error, 'stopped: halted by admin');
});
