import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { instanceOf } from '../../src/executions/instance.ts';
import { withSpares } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';
import { SpareScene } from './spare-scene.ts';

/** Containers that wait for a message, when nobody sends one, when the service is killed, and when there is no room. */

const spares = new SpareScene('10s');

test('a reactor whose messages come often has a spare until none come, each message a container of its own', async () => {
  const { admin } = spares;
  const id = await spares.runs('echo $MSG');
  const logs: string[] = [];
  for (const message of ['a', 'b']) logs.push((await admin.runOnce(id, message)).log);
  assert.deepEqual(logs, ['new\na\n', 'new\nb\n']);
  const [first] = await spares.ready(id, 1);
  assert.equal((await admin.runOnce(id, 'c')).log, 'spare\nc\n');
  const [second] = await spares.ready(id, 1);
  assert.notEqual(second, first);
  assert.equal((await admin.runOnce(id, 'd')).log, 'spare\nd\n');
  await until('the spare to go', async () => (await spares.own()).length === 0);
  assert.equal((await admin.runOnce(id, 'e')).log, 'new\ne\n');
});

test('a kill of the service while spares wait leaves none of them, and what was accepted runs', async () => {
  const { admin } = spares;
  const id = await spares.runs('echo $MSG', { warm: 2 });
  const before = await spares.ready(id, 2);
  await spares.scene.restart('SIGKILL');
  assert.equal((await admin.runOnce(id, 'after')).log.split('\n')[1], 'after');
  await until('the old spares to be gone', async () => {
    const left = await spares.engine.list({ 'reactord.reactor': id });
    return left.every((container) => !before.includes(container.id));
  });
  await spares.ready(id, 2);
  await admin.call('DELETE', `/${id}`);
});

test('an execution that had its spare and not yet its message runs once after a kill', async () => {
  const { admin } = spares;
  const id = await spares.runs(
    'echo $MSG; while [ $MSG = first ] && [ ! -e /tmp/go ]; do sleep 0.1; done',
    {
      warm: 1,
    },
  );
  await spares.ready(id, 1);
  const first = await admin.send(id, 'first');
  await admin.running(id, first);
  const second = await admin.send(id, 'second');
  const { instance, name } = await until('the next spare', async () => {
    const all = await spares.engine.list({ 'reactord.reactor': id });
    const running = (await admin.call('GET', `/${id}/workers`)).json().result[0]?.cid;
    const spare = all.find((one) => one.id !== running && one.state === 'running');
    return spare && { instance: instanceOf(spares.scene.service.data), name: spare.name };
  });
  const { data } = spares.scene.service;
  spares.scene.service.signal('SIGKILL');
  await spares.scene.service.ended;
  // As the claim writes it, killed before anything else.
  const store = new DatabaseSync(join(data, 'reactord.db'));
  const claimed = store
    .prepare(
      "update executions set worker_id = 'w', instance = ?, claimed_at = 1, spare = ?, revision = 1 where id = ? and status = 'SUBMITTED'",
    )
    .run(instance, name, second);
  assert.equal(claimed.changes, 1);
  store.close();
  await spares.scene.restart('SIGKILL');
  const go = [{ path: '/tmp/go', mode: 0o644, content: Buffer.from('') }];
  const running = (await spares.engine.list({ 'reactord.reactor': id })).filter(
    ({ state }) => state === 'running',
  );
  for (const container of running) await spares.engine.handOver(container.id, go).catch(() => {});
  assert.equal((await admin.ended(id, first)).exitCode, 0);
  assert.equal((await admin.ended(id, second)).exitCode, 0);
  assert.match(await admin.log(id, second), /^(new|spare)\nsecond\n$/);
  await admin.call('DELETE', `/${id}`);
});

test('an execution whose spare has its message, and has not said so when the service is killed, runs once', async () => {
  const { admin } = spares;
  const id = await spares.runs('echo $MSG; sleep 1', { warm: 1 });
  const [container] = await spares.ready(id, 1);
  await spares.client.call('POST', `/containers/${container}/pause`);
  const sent = await admin.send(id, 'given');
  await until('the spare to be taken', async () => {
    const [worker] = (await admin.call('GET', `/${id}/workers`)).json().result;
    return worker?.status === 'BUSY' && worker.cid === container;
  });
  spares.scene.service.signal('SIGKILL');
  await spares.scene.service.ended;
  await spares.client.call('POST', `/containers/${container}/unpause`);
  await spares.scene.restart('SIGKILL');
  const { exitCode } = await admin.ended(id, sent);
  assert.equal(exitCode, 0);
  assert.match(await admin.log(id, sent), /^(spare|new)\ngiven\n$/);
  await admin.call('DELETE', `/${id}`);
  await until('everything of it to go', async () => {
    return (await spares.engine.list({ 'reactord.reactor': id })).length === 0;
  });
});

test('spares give way to what runs, and nothing is left when the service stops', async () => {
  const { admin } = spares;
  await spares.scene.restart('SIGTERM', {
    environment: {
      ...withSpares,
      REACTORD_CONTAINERS_AT_ONCE: '3',
      REACTORD_PULL_POLICY: 'missing',
    },
  });
  const warm = await spares.runs('true', { warm: 2 });
  await spares.ready(warm, 2);
  const busy = await spares.runs('sleep 1', { max_workers: 3 });
  const sent = [await admin.send(busy), await admin.send(busy), await admin.send(busy)];
  await until('the spares to give way', async () => (await spares.sparesOf(warm)).length === 0);
  for (const execution of sent) assert.equal((await admin.ended(busy, execution)).exitCode, 0);
  await spares.ready(warm, 2);
  spares.scene.service.signal('SIGTERM');
  await spares.scene.service.ended;
  assert.deepEqual(await spares.own(), []);
});
