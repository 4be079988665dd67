import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { instanceOf } from '../../src/executions/instance.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { openTestEngine } from '../harness/run-image.ts';
import { until } from '../harness/until.ts';

/** What becomes of executions when the service is killed, stopped, or loses sight of a container. */

let scene: Scene;
let engine: ReturnType<typeof openTestEngine>;

before(async () => {
  scene = await openScene();
  engine = openTestEngine(scene.service.data);
});

after(async () => {
  await scene.dispose();
  await engine.close();
});

const counts = (to: number) =>
  `i=1; while [ $i -le ${to} ]; do echo line $i; [ $((i % 5)) = 0 ] && echo mark $i >&2; i=$((i+1)); sleep 0.1; done; printf last; exit 6`;

function expected(to: number) {
  const numbers = Array.from({ length: to }, (_, at) => at + 1);
  return {
    stdout: `${numbers.map((number) => `line ${number}\n`).join('')}last`,
    stderr: numbers
      .filter((number) => number % 5 === 0)
      .map((number) => `mark ${number}\n`)
      .join(''),
  };
}

async function streams(reactor: string, execution: string) {
  const read = async (stream: string): Promise<string> => {
    const path = `/${reactor}/executions/${execution}/logs`;
    const reply = await scene.admin.call('GET', path, { query: `?stream=${stream}` });
    return reply.json().result.logs;
  };
  return { stdout: await read('stdout'), stderr: await read('stderr') };
}

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

async function containerOf(execution: string) {
  const found = await engine.list({ 'reactord.execution': execution });
  return found[0];
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`an execution goes on over a ${signal} of the service: each line once, exit kept, queue in order`, async () => {
    const { admin } = scene;
    const id = await runs(counts(30));
    const first = await admin.send(id);
    const second = await admin.send(id);
    await until('some lines to be stored', async () =>
      (await admin.log(id, first)).includes('line 7'),
    );
    await scene.restart(signal);
    const record = await admin.ended(id, first);
    assert.equal(record.status, 'COMPLETE', record.statusMessage);
    assert.equal(record.exitCode, 6);
    assert.deepEqual(await streams(id, first), expected(30));
    const next = await admin.ended(id, second);
    assert.equal(next.exitCode, 6);
    assert.ok(record.finishTime <= next.startTime);
    assert.deepEqual(await streams(id, second), expected(30));
  });
}

test('an execution that ended while no service ran is settled, log and exit code whole', async () => {
  const { admin } = scene;
  const id = await runs(counts(8));
  const execution = await admin.send(id);
  await admin.running(id, execution);
  scene.service.signal('SIGKILL');
  await scene.service.ended;
  await until(
    'the container to end',
    async () => (await containerOf(execution))?.state === 'ended',
  );
  await scene.restart('SIGKILL');
  const record = await admin.ended(id, execution);
  assert.equal(record.exitCode, 6);
  assert.deepEqual(await streams(id, execution), expected(8));
});

test('an execution whose container vanished while no service ran is ERROR, and the next runs', async () => {
  const { admin } = scene;
  const id = await runs('echo begun; sleep 60');
  const lost = await admin.send(id);
  await admin.running(id, lost);
  scene.service.signal('SIGKILL');
  await scene.service.ended;
  await engine.remove((await containerOf(lost))?.id ?? '');
  await scene.restart('SIGKILL');
  const record = await admin.ended(id, lost);
  assert.equal(record.status, 'ERROR');
  assert.match(record.statusMessage, /^lost: its container vanished/);
  const next = await admin.send(id);
  await admin.running(id, next);
  await admin.call('DELETE', `/${id}`);
});

test('an execution whose container is removed under the eyes of the service is ERROR', async () => {
  const { admin } = scene;
  const id = await runs('echo begun; sleep 60');
  const lost = await admin.send(id);
  await admin.running(id, lost);
  await engine.remove((await containerOf(lost))?.id ?? '');
  const record = await admin.ended(id, lost);
  // The engine may tell of the kill before it tells of the removal.
  if (record.status === 'ERROR') assert.match(record.statusMessage, /^lost: /);
  else assert.equal(record.exitCode, 137);
});

test('the time limit holds over a kill of the service', async () => {
  const { admin } = scene;
  const id = await runs('sleep 60', { timeout: 3 });
  const execution = await admin.send(id);
  await admin.running(id, execution);
  await scene.restart('SIGKILL');
  const record = await admin.ended(id, execution);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.finalState.Error, 'stopped: ran longer than 3 s');
  assert.ok(record.runtime < 20, `it ran ${record.runtime} s`);
});

test('a halt that was asked for is remembered over a kill of the service', async () => {
  const { admin } = scene;
  const id = await runs('trap "" TERM; while :; do sleep 0.1; done');
  const execution = await admin.send(id);
  await admin.running(id, execution);
  await admin.call('DELETE', `/${id}/executions/${execution}`);
  await scene.restart('SIGKILL');
  const record = await admin.ended(id, execution);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.finalState.Error, 'stopped: halted by admin');
});

test('what was accepted before a kill and had not begun runs afterwards, in its order', async () => {
  const { admin } = scene;
  const id = await runs('echo $MSG');
  const executions: string[] = [];
  for (let at = 0; at < 10; at += 1) executions.push(await admin.send(id, `${at}`));
  await scene.restart('SIGKILL');
  let before = '';
  for (const [at, execution] of executions.entries()) {
    const record = await admin.ended(id, execution);
    assert.equal(record.status, 'COMPLETE', record.statusMessage);
    assert.equal(await admin.log(id, execution), `${at}\n`);
    assert.ok(before <= record.startTime);
    before = record.finishTime;
  }
});

test('nothing is left on the engine afterwards', async () => {
  await until('all containers to be gone', async () => {
    return (
      (await engine.list({ 'reactord.instance': instanceOf(scene.service.data) })).length === 0
    );
  });
});
