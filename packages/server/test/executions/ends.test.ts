import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { instanceOf } from '../../src/executions/instance.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { makeRunImage, openTestEngine } from '../harness/run-image.ts';
import { until } from '../harness/until.ts';

/** How executions end, and what their records say about it. */

let scene: Scene;

before(async () => {
  scene = await openScene({
    environment: {
      REACTORD_STOP_GRACE: '1s',
      REACTORD_MOST_PROCESSES: '32',
    },
  });
});

after(() => scene.dispose());

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

test('any exit code is COMPLETE, with times, figures and the final state', async () => {
  const id = await runs(
    'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; sleep 1; exit 7',
  );
  const { record, log } = await scene.admin.runOnce(id);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.exitCode, 7);
  assert.equal(record.runtime, 1);
  assert.ok(record.cpu > 1_000_000, `cpu ${record.cpu}`);
  assert.equal(record.finalState.Status, 'exited');
  assert.equal(record.finalState.ExitCode, 7);
  assert.equal(record.finalState.Error, '');
  assert.ok(record.messageReceivedTime <= record.startTime);
  assert.ok(record.startTime < record.finishTime);
  assert.equal(log, 'done\n');
});

test('the totals of the reactor are the sums over its executions', async () => {
  const id = await runs('i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done');
  const first = await scene.admin.runOnce(id);
  const second = await scene.admin.runOnce(id);
  const list = (await scene.admin.call('GET', `/${id}/executions`)).json().result;
  assert.equal(list.totalExecutions, 2);
  assert.equal(list.totalCpu, first.record.cpu + second.record.cpu);
  assert.equal(list.totalIo, first.record.io + second.record.io);
});

test('an execution that runs too long is stopped, and says so', async () => {
  const id = await runs('trap "echo asked to stop; exit 5" TERM; while :; do sleep 0.1; done', {
    timeout: 1,
  });
  const { record, log } = await scene.admin.runOnce(id);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.exitCode, 5);
  assert.equal(record.finalState.Error, 'stopped: ran longer than 1 s');
  assert.equal(log, 'asked to stop\n');
});

test('an execution that ignores SIGTERM is killed after the grace', async () => {
  const id = await runs('trap "" TERM; while :; do sleep 0.1; done', { timeout: 1 });
  const { record } = await scene.admin.runOnce(id);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.exitCode, 137);
  assert.equal(record.finalState.Error, 'stopped: ran longer than 1 s');
});

test('a memory hog is killed at its limit, and says so', async () => {
  const id = await runs('echo eating; tail -c 200m /dev/zero; echo survived', { mem_limit: '16m' });
  const { record } = await scene.admin.runOnce(id);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.finalState.OOMKilled, true);
  assert.match(record.finalState.Error, /killed: over its 16 MiB memory limit$/);
});

test('a fork bomb meets its limit, and the next execution runs', async () => {
  const id = await runs('f() { f | f & }; f; sleep 1; echo over', { timeout: 20 });
  const bomb = await scene.admin.runOnce(id);
  assert.equal(bomb.record.status, 'COMPLETE');
  const calm = await runs('echo calm');
  assert.equal((await scene.admin.runOnce(calm)).log, 'calm\n');
});

test('a running execution is halted by its owner, and says who did it', async () => {
  const { admin } = scene;
  const id = await runs('trap "exit 9" TERM; while :; do sleep 0.1; done');
  const running = await admin.send(id);
  const waiting = await admin.send(id);
  await admin.running(id, running);
  const early = await admin.call('DELETE', `/${id}/executions/${waiting}`);
  assert.equal(early.status, 409, early.text);
  const reply = await admin.call('DELETE', `/${id}/executions/${running}`);
  assert.equal(reply.status, 200, reply.text);
  const record = await admin.ended(id, running);
  assert.equal(record.status, 'COMPLETE');
  assert.equal(record.exitCode, 9);
  assert.equal(record.finalState.Error, 'stopped: halted by admin');
  assert.equal((await admin.call('DELETE', `/${id}/executions/${running}`)).status, 409);
  await admin.running(id, waiting);
  await admin.call('DELETE', `/${id}/executions/${waiting}`);
  await admin.ended(id, waiting);
});

test('what cannot be started ends as ERROR in words, and the next in line is not held up', async () => {
  const { admin } = scene;
  const broken = await makeRunImage('nobody-there');
  const id = await admin.register({ image: broken.reference });
  const executions = [await admin.send(id), await admin.send(id)];
  for (const execution of executions) {
    const record = await admin.ended(id, execution);
    assert.equal(record.status, 'ERROR');
    assert.match(record.statusMessage, /^could not be run: .*nobody-there/s);
    assert.equal(record.exitCode, null);
  }
  await broken.remove();
});

test('output without a last newline, on both streams, is whole', async () => {
  const id = await runs('echo out; echo err >&2; printf last');
  const { log } = await scene.admin.runOnce(id);
  assert.deepEqual(log.replace('last', 'last\n').trim().split('\n').sort(), ['err', 'last', 'out']);
});

test('nothing is left on the engine', async () => {
  const engine = openTestEngine(scene.service.data);
  const id = await runs('echo here');
  await scene.admin.runOnce(id);
  await until('all containers to be gone', async () => {
    return (
      (await engine.list({ 'reactord.instance': instanceOf(scene.service.data) })).length === 0
    );
  });
  await engine.close();
});
