import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { SpareScene, tellsWhere } from './spare-scene.ts';

/** Containers that wait for a message. */

const spares = new SpareScene('1m');

const put = (reactor: string, fields: object) =>
  spares.admin.call('PUT', `/${reactor}`, {
    body: JSON.stringify({ image: spares.scene.image.reference, ...fields }),
    type: 'application/json',
  });

test('with warm 1 the first message finds one ready, and its times are its own', async () => {
  const { admin } = spares;
  const id = await spares.runs('sleep 1.2; exit 3', { warm: 1 });
  await spares.ready(id, 1);
  await until('the spare to have waited a while', async () => {
    const [spare] = await spares.sparesOf(id);
    return spare !== undefined && Date.now() - spare.createdAt > 1_500;
  });
  const before = new Date().toISOString().replace('T', ' ').slice(0, -1);
  const { record, log } = await admin.runOnce(id);
  assert.equal(log, 'spare\n');
  assert.ok(record.startTime >= before, `${record.startTime} is before ${before}`);
  assert.ok(record.runtime >= 1, `${record.runtime}`);
  assert.equal(record.exitCode, 3);
  assert.equal(
    record.finalState.StartedAt.slice(0, 19),
    record.startTime.slice(0, 19).replace(' ', 'T'),
  );
  assert.ok(record.cpu > 0);
  // It has nobody to wait for, and is kept.
  await spares.ready(id, 1);
  await admin.call('DELETE', `/${id}`);
});

test('messages of all kinds arrive, and the engine is told neither message nor token', async () => {
  const { admin } = spares;
  const program =
    'echo "$MSG" | wc -c; cat /_svc_binary_data 2>/dev/null | md5sum; echo $_svc_results_socket; echo "[$A][$B]"; echo $_svc_access_token; sleep 0.5';
  const id = await spares.runs(program, { warm: 1 });
  const [container] = await spares.ready(id, 1);
  const text = `s3cret-${'x'.repeat(100_000)}\nline`;
  const sent = await admin.send(id, text, { query: '?A=two%0Alines' });
  await admin.running(id, sent);
  const inspected = JSON.stringify(
    await spares.client.call('GET', `/containers/${container}/json`),
  );
  assert.doesNotMatch(inspected, /s3cret|access_token|_svc_actor|lines/);
  const { exitCode } = await admin.ended(id, sent);
  assert.equal(exitCode, 0);
  const log = await admin.log(id, sent);
  assert.match(log, new RegExp(`^spare\\n${text.length + 1}\\n`));
  assert.match(log, /\/_svc_results.sock\n\[two\nlines\]\[\]\n/);
  await spares.ready(id, 1);
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
  const { admin } = spares;
  const id = await spares.runs("trap '' TERM; while :; do sleep 0.1; done", {
    warm: 1,
    timeout: 1,
  });
  await spares.ready(id, 1);
  const late = await admin.runOnce(id);
  assert.equal(late.log, 'spare\n');
  assert.match(late.record.finalState.Error, /ran longer than 1 s/);
  assert.equal(late.record.exitCode, 137);
  await spares.ready(id, 1);
  const halted = await admin.send(id);
  await admin.running(id, halted);
  assert.equal((await admin.call('DELETE', `/${id}/executions/${halted}`)).status, 200);
  assert.match((await admin.ended(id, halted)).finalState.Error, /halted by admin/);
  await admin.call('DELETE', `/${id}`);
});

test('many messages keep their order, each in a container that nobody used', async () => {
  const { admin } = spares;
  const id = await spares.runs('echo $MSG');
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
  const { admin } = spares;
  const environment = { RUN: `${tellsWhere}echo $WHAT` };
  const id = await spares.runs('true', { warm: 2 });
  const first = await spares.ready(id, 2);
  assert.equal(
    (await put(id, { default_environment: environment, warm: 2, mem_limit: '32m' })).status,
    200,
  );
  const second = await until('the spares to be others', async () => {
    const found = await spares.ready(id, 2);
    return found.every((container) => !first.includes(container)) ? found : undefined;
  });
  for (const container of second) {
    const about = JSON.stringify(await spares.client.call('GET', `/containers/${container}/json`));
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
  await until('the spares to go', async () => (await spares.sparesOf(id)).length === 0);
  assert.equal((await put(id, { default_environment: environment, warm: 1 })).status, 200);
  await spares.ready(id, 1);
  assert.equal((await admin.call('DELETE', `/${id}`)).status, 200);
  await until('everything of it to go', async () => {
    return (await spares.engine.list({ 'reactord.reactor': id })).length === 0;
  });
});

test('kept workers have a spare each, and show it', async () => {
  const { admin } = spares;
  const id = await spares.runs('true', { max_workers: 2 });
  const kept = await admin.call('POST', `/${id}/workers`, {
    body: JSON.stringify({ num: 2 }),
    type: 'application/json',
  });
  assert.equal(kept.status, 200, kept.text);
  const containers = await spares.ready(id, 2);
  const cids = await until('the workers to show them', async () => {
    const { result } = (await admin.call('GET', `/${id}/workers`)).json();
    const shown = result.map(({ cid }: { cid: string | null }) => cid);
    return shown.every((cid: string | null) => cid !== null) ? shown : undefined;
  });
  assert.deepEqual(cids.toSorted(), containers.toSorted());
  await admin.call('DELETE', `/${id}`);
});
