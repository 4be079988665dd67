import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import type { ContainerSummary } from '../../src/engines/engine.ts';
import { instanceOf } from '../../src/executions/instance.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { engineAddress } from '../harness/images.ts';
import { openTestEngine } from '../harness/run-image.ts';
import { until } from '../harness/until.ts';

/** Containers that wait for a message. */

let scene: Scene;
let engine: ReturnType<typeof openTestEngine>;
const client = new DockerClient(engineAddress, process.env);

before(async () => {
  scene = await openScene({
    environment: { REACTORD_SPARE_IDLE_LIMIT: '4s', REACTORD_STOP_GRACE: '1s' },
  });
  engine = openTestEngine(scene.service.data);
});

after(async () => {
  await scene.dispose();
  await engine.close();
  client.close();
});

/** Says whether it runs in a spare, and whether somebody was there before it. */
const tellsWhere =
  'grep -qs reactord-wait /proc/1/cmdline && echo spare || echo new; [ -e /tmp/used ] && echo used; touch /tmp/used; ';

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: tellsWhere + program },
    ...fields,
  });

const own = () => engine.list({ 'reactord.instance': instanceOf(scene.service.data) });

async function sparesOf(reactor: string): Promise<readonly ContainerSummary[]> {
  const all = await engine.list({ 'reactord.reactor': reactor });
  return all.filter(({ name, state }) => name.startsWith('reactord-spare-') && state === 'running');
}

/** As the service knows them: ready. */
async function ready(reactor: string, count: number): Promise<readonly string[]> {
  return until(`${count} spares to be ready`, async () => {
    const found = await sparesOf(reactor);
    return found.length === count ? found.map(({ id }) => id) : undefined;
  });
}

const put = (reactor: string, fields: object) =>
  scene.admin.call('PUT', `/${reactor}`, {
    body: JSON.stringify({ image: scene.image.reference, ...fields }),
    type: 'application/json',
  });

test('a reactor whose messages come often has a spare until none come, each message a container of its own', async () => {
  const { admin } = scene;
  const id = await runs('echo $MSG');
  const logs: string[] = [];
  for (const message of ['a', 'b']) logs.push((await admin.runOnce(id, message)).log);
  assert.deepEqual(logs, ['new\na\n', 'new\nb\n']);
  const [first] = await ready(id, 1);
  assert.equal((await admin.runOnce(id, 'c')).log, 'spare\nc\n');
  const [second] = await ready(id, 1);
  assert.notEqual(second, first);
  assert.equal((await admin.runOnce(id, 'd')).log, 'spare\nd\n');
  await until('the spare to go', async () => (await own()).length === 0);
  assert.equal((await admin.runOnce(id, 'e')).log, 'new\ne\n');
});

test('with warm 1 the first message finds one ready, and its times are its own', async () => {
  const { admin } = scene;
  const id = await runs('sleep 1.2; exit 3', { warm: 1 });
  await ready(id, 1);
  await until('the spare to have waited a while', async () => {
    const [spare] = await sparesOf(id);
    return spare !== undefined && Date.now() - spare.createdAt > 1_500;
  });
  const before = new Date().toISOString().replace('T', ' ').slice(0, -1);
  const { record, log } = await admin.runOnce(id);
  assert.equal(log, 'spare\n');
  assert.ok(record.startTime >= before, `${record.startTime} is before ${before}`);
  assert.equal(record.runtime, 1);
  assert.equal(record.exitCode, 3);
  assert.equal(
    record.finalState.StartedAt.slice(0, 19),
    record.startTime.slice(0, 19).replace(' ', 'T'),
  );
  assert.ok(record.cpu > 0);
  // It has nobody to wait for, and is kept.
  await ready(id, 1);
  await admin.call('DELETE', `/${id}`);
});

test('messages of all kinds arrive, and the engine is told neither message nor token', async () => {
  const { admin } = scene;
  const program =
    'echo "$MSG" | wc -c; cat /_svc_binary_data 2>/dev/null | md5sum; echo $_svc_results_socket; echo "[$A][$B]"; echo $_svc_access_token; sleep 0.5';
  const id = await runs(program, { warm: 1 });
  const [container] = await ready(id, 1);
  const text = `s3cret-${'x'.repeat(100_000)}\nline`;
  const sent = await admin.send(id, text, { query: '?A=two%0Alines' });
  await admin.running(id, sent);
  const inspected = JSON.stringify(await client.call('GET', `/containers/${container}/json`));
  assert.doesNotMatch(inspected, /s3cret|access_token|_svc_actor|lines/);
  const { exitCode } = await admin.ended(id, sent);
  assert.equal(exitCode, 0);
  const log = await admin.log(id, sent);
  assert.match(log, new RegExp(`^spare\\n${text.length + 1}\\n`));
  assert.match(log, /\/_svc_results.sock\n\[two\nlines\]\[\]\n/);
  await ready(id, 1);
  const content = new Uint8Array(300_000).fill(7);
  const bytes = await admin.runOnce(id, '', {
    body: content,
    type: 'application/octet-stream',
  });
  const sum = createHash('md5').update(content).digest('hex');
  assert.ok(bytes.log.startsWith(`spare\n1\n${sum}  -\n`), bytes.log);
  assert.equal(bytes.record.exitCode, 0);
  await admin.call('DELETE', `/${id}`);
});

test('what runs in a spare is halted, and stopped when its time is over', async () => {
  const { admin } = scene;
  const id = await runs("trap '' TERM; while :; do sleep 0.1; done", { warm: 1, timeout: 1 });
  await ready(id, 1);
  const late = await admin.runOnce(id);
  assert.equal(late.log, 'spare\n');
  assert.match(late.record.finalState.Error, /ran longer than 1 s/);
  assert.equal(late.record.exitCode, 137);
  await ready(id, 1);
  const halted = await admin.send(id);
  await admin.running(id, halted);
  assert.equal((await admin.call('DELETE', `/${id}/executions/${halted}`)).status, 200);
  assert.match((await admin.ended(id, halted)).finalState.Error, /halted by admin/);
  await admin.call('DELETE', `/${id}`);
});

test('many messages keep their order, each in a container that nobody used', async () => {
  const { admin } = scene;
  const id = await runs('echo $MSG');
  const sent: string[] = [];
  for (let at = 0; at < 10; at++) sent.push(await admin.send(id, String(at)));
  let before = '';
  let warm = 0;
  for (const [at, execution] of sent.entries()) {
    const { startTime, finishTime } = await admin.ended(id, execution);
    assert.ok(startTime >= before, `${at} began before the one before it ended`);
    before = finishTime;
    const [where, ...rest] = (await admin.log(id, execution)).split('\n');
    assert.deepEqual(rest, [String(at), '']);
    if (where === 'spare') warm += 1;
  }
  assert.ok(warm >= 6, `${warm} of 10 ran in spares`);
  await admin.call('DELETE', `/${id}`);
});

test('a change of the reactor replaces its spares, and its end removes them', async () => {
  const { admin } = scene;
  const environment = { RUN: `${tellsWhere}echo $WHAT` };
  const id = await runs('true', { warm: 2 });
  const first = await ready(id, 2);
  assert.equal(
    (await put(id, { default_environment: environment, warm: 2, mem_limit: '32m' })).status,
    200,
  );
  const second = await until('the spares to be others', async () => {
    const found = await ready(id, 2);
    return found.every((container) => !first.includes(container)) ? found : undefined;
  });
  for (const container of second) {
    const about = JSON.stringify(await client.call('GET', `/containers/${container}/json`));
    assert.match(about, /"Memory":33554432/);
  }
  // What is handed over late need not be known before.
  const config = { name: 'WHAT', value: 'later', is_secret: false, actors: id };
  const made = await admin.call('POST', '/configs', {
    body: JSON.stringify(config),
    type: 'application/json',
  });
  assert.equal(made.status, 201, made.text);
  assert.equal((await admin.runOnce(id)).log, 'spare\nlater\n');
  assert.equal((await put(id, { default_environment: environment, warm: 0 })).status, 200);
  await until('the spares to go', async () => (await sparesOf(id)).length === 0);
  assert.equal((await put(id, { default_environment: environment, warm: 1 })).status, 200);
  await ready(id, 1);
  assert.equal((await admin.call('DELETE', `/${id}`)).status, 200);
  await until('everything of it to go', async () => {
    return (await engine.list({ 'reactord.reactor': id })).length === 0;
  });
});

test('kept workers have a spare each, and show it', async () => {
  const { admin } = scene;
  const id = await runs('true', { max_workers: 2 });
  const kept = await admin.call('POST', `/${id}/workers`, {
    body: JSON.stringify({ num: 2 }),
    type: 'application/json',
  });
  assert.equal(kept.status, 200, kept.text);
  const containers = await ready(id, 2);
  const cids = await until('the workers to show them', async () => {
    const { result } = (await admin.call('GET', `/${id}/workers`)).json();
    const shown = result.map(({ cid }: { cid: string | null }) => cid);
    return shown.every((cid: string | null) => cid !== null) ? shown : undefined;
  });
  assert.deepEqual(cids.toSorted(), containers.toSorted());
  await admin.call('DELETE', `/${id}`);
});

test('a kill of the service while spares wait leaves none of them, and what was accepted runs', async () => {
  const { admin } = scene;
  const id = await runs('echo $MSG', { warm: 2 });
  const before = await ready(id, 2);
  await scene.restart('SIGKILL');
  assert.equal((await admin.runOnce(id, 'after')).log.split('\n')[1], 'after');
  await until('the old spares to be gone', async () => {
    const left = await engine.list({ 'reactord.reactor': id });
    return left.every((container) => !before.includes(container.id));
  });
  await ready(id, 2);
  await admin.call('DELETE', `/${id}`);
});

test('an execution that had its spare and not yet its message runs once after a kill', async () => {
  const { admin } = scene;
  const id = await runs(
    'echo $MSG; while [ $MSG = first ] && [ ! -e /tmp/go ]; do sleep 0.1; done',
    {
      warm: 1,
    },
  );
  await ready(id, 1);
  const first = await admin.send(id, 'first');
  await admin.running(id, first);
  const second = await admin.send(id, 'second');
  const { instance, name } = await until('the next spare', async () => {
    const all = await engine.list({ 'reactord.reactor': id });
    const running = (await admin.call('GET', `/${id}/workers`)).json().result[0]?.cid;
    const spare = all.find((one) => one.id !== running && one.state === 'running');
    return spare && { instance: instanceOf(scene.service.data), name: spare.name };
  });
  const { data } = scene.service;
  scene.service.signal('SIGKILL');
  await scene.service.ended;
  // As the claim writes it, killed before anything else.
  const store = new DatabaseSync(join(data, 'reactord.db'));
  const claimed = store
    .prepare(
      "update executions set worker_id = 'w', instance = ?, claimed_at = 1, spare = ?, revision = 1 where id = ? and status = 'SUBMITTED'",
    )
    .run(instance, name, second);
  assert.equal(claimed.changes, 1);
  store.close();
  await scene.restart('SIGKILL');
  const go = [{ path: '/tmp/go', mode: 0o644, content: Buffer.from('') }];
  const running = (await engine.list({ 'reactord.reactor': id })).filter(
    ({ state }) => state === 'running',
  );
  for (const container of running) await engine.handOver(container.id, go).catch(() => {});
  assert.equal((await admin.ended(id, first)).exitCode, 0);
  assert.equal((await admin.ended(id, second)).exitCode, 0);
  assert.match(await admin.log(id, second), /^(new|spare)\nsecond\n$/);
  await admin.call('DELETE', `/${id}`);
});

test('an execution whose spare has its message, and has not said so when the service is killed, runs once', async () => {
  const { admin } = scene;
  const id = await runs('echo $MSG; sleep 1', { warm: 1 });
  const [container] = await ready(id, 1);
  await client.call('POST', `/containers/${container}/pause`);
  const sent = await admin.send(id, 'given');
  await until('the spare to be taken', async () => {
    const [worker] = (await admin.call('GET', `/${id}/workers`)).json().result;
    return worker?.status === 'BUSY' && worker.cid === container;
  });
  scene.service.signal('SIGKILL');
  await scene.service.ended;
  await client.call('POST', `/containers/${container}/unpause`);
  await scene.restart('SIGKILL');
  const { exitCode } = await admin.ended(id, sent);
  assert.equal(exitCode, 0);
  assert.match(await admin.log(id, sent), /^(spare|new)\ngiven\n$/);
  await admin.call('DELETE', `/${id}`);
  await until('everything of it to go', async () => {
    return (await engine.list({ 'reactord.reactor': id })).length === 0;
  });
});

test('spares give way to what runs, and nothing is left when the service stops', async () => {
  const { admin } = scene;
  await scene.restart('SIGTERM', {
    environment: { REACTORD_CONTAINERS_AT_ONCE: '3', REACTORD_PULL_POLICY: 'missing' },
  });
  const warm = await runs('true', { warm: 2 });
  await ready(warm, 2);
  const busy = await runs('sleep 1', { max_workers: 3 });
  const sent = [await admin.send(busy), await admin.send(busy), await admin.send(busy)];
  await until('the spares to give way', async () => (await sparesOf(warm)).length === 0);
  for (const execution of sent) assert.equal((await admin.ended(busy, execution)).exitCode, 0);
  await ready(warm, 2);
  scene.service.signal('SIGTERM');
  await scene.service.ended;
  assert.deepEqual(await own(), []);
});
