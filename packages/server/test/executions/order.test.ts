import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';

/** In which order messages run, and how many at once. */

let scene: Scene;

before(async () => {
  scene = await openScene({ environment: { REACTORD_CONTAINERS_AT_ONCE: '3' } });
});

after(() => scene.dispose());

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

async function recordsOf(reactor: string, executions: readonly string[]) {
  const records = [];
  for (const id of executions) records.push(await scene.admin.ended(reactor, id));
  return records;
}

test('messages of one reactor run one at a time, in the order of receipt', async () => {
  const id = await runs('echo $MSG');
  const executions: string[] = [];
  for (let at = 0; at < 12; at += 1) executions.push(await scene.admin.send(id, `${at}`));
  const records = await recordsOf(id, executions);
  const pauses: number[] = [];
  for (const [at, record] of records.entries()) {
    assert.equal(record.status, 'COMPLETE', record.statusMessage);
    assert.equal(await scene.admin.log(id, record.id), `${at}\n`);
    const before = records[at - 1];
    if (before !== undefined) {
      assert.ok(before.finishTime <= record.startTime, `${at} began before ${at - 1} ended`);
      assert.ok(before.messageReceivedTime < record.messageReceivedTime);
      pauses.push(milliseconds(record.startTime) - milliseconds(before.finishTime));
    }
  }
  // The schedule also looks every five seconds for what it has overlooked; that must not be what starts them.
  const usual = pauses.sort((a, b) => a - b)[Math.floor(pauses.length / 2)] ?? Number.NaN;
  assert.ok(usual < 2_500, `${usual} ms between the end of one and the start of the next`);
});

const milliseconds = (time: string): number => Date.parse(`${time.replace(' ', 'T')}Z`);

test('with more workers they start in the order of receipt, and never more at once', async () => {
  const id = await runs('sleep 0.5', { max_workers: 2 });
  const executions: string[] = [];
  for (let at = 0; at < 8; at += 1) executions.push(await scene.admin.send(id, `${at}`));
  const records = await recordsOf(id, executions);
  let together = 0;
  for (const [at, record] of records.entries()) {
    if (at > 0) assert.ok(records[at - 1].startTime <= record.startTime, `${at} started too early`);
    const beside = records.filter(
      (other) => other.startTime <= record.startTime && other.finishTime > record.startTime,
    ).length;
    assert.ok(beside <= 2, `${beside} at once`);
    together = Math.max(together, beside);
  }
  assert.equal(together, 2);
});

test('a reactor with state runs one execution at a time', async () => {
  const id = await runs('sleep 0.3', { stateless: false });
  const records = await recordsOf(id, [
    await scene.admin.send(id),
    await scene.admin.send(id),
    await scene.admin.send(id),
  ]);
  assert.ok(records[0].finishTime <= records[1].startTime);
  assert.ok(records[1].finishTime <= records[2].startTime);
});

test('one reactor with much to do does not hold up another', async () => {
  const { admin } = scene;
  const greedy = await runs('sleep 0.2', { max_workers: 3 });
  const modest = await runs('echo now');
  const many = await Promise.all(Array.from({ length: 40 }, () => admin.send(greedy)));
  const [first] = many;
  assert.ok(first !== undefined);
  await admin.running(greedy, first);
  const posted = (await admin.ended(modest, await admin.send(modest))) as {
    messageReceivedTime: string;
    startTime: string;
  };
  const others = (await admin.call('GET', `/${greedy}/executions`)).json().result.executions;
  const between = others.filter(
    ({ startTime }: { startTime: string | null }) =>
      startTime !== null && startTime > posted.messageReceivedTime && startTime < posted.startTime,
  );
  assert.ok(between.length <= 4, `${between.length} of the other reactor started before it`);
  await admin.call('DELETE', `/${greedy}/messages`);
});

test('messages wait for an image that cannot be had yet, and run in order once it can', async () => {
  const { admin, image } = scene;
  const description = { default_environment: { RUN: 'echo $MSG' } };
  const id = await admin.registerOnly({ image: 'localhost:1/no/such:image', ...description });
  const executions = [await admin.send(id, 'first'), await admin.send(id, 'second')];
  const mended = await admin.call('PUT', `/${id}`, {
    body: JSON.stringify({ image: image.reference, ...description }),
    type: 'application/json',
  });
  assert.equal(mended.status, 200, mended.text);
  const records = await recordsOf(id, executions);
  assert.deepEqual(
    records.map(({ status }) => status),
    ['COMPLETE', 'COMPLETE'],
  );
  assert.ok(records[0].finishTime <= records[1].startTime);
});
