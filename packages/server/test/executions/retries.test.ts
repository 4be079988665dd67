import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pauseBefore } from '../../src/executions/retry.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** Failed executions that are tried again, and what has failed for the last time. */

let scene: Scene;

before(async () => {
  scene = await openScene({
    environment: {
      REACTORD_RETRY_PAUSE: '1s',
      REACTORD_RETRY_LONGEST_PAUSE: '1s',
      REACTORD_STOP_GRACE: '1s',
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

async function deadLetters(id: string, query = '') {
  const reply = await scene.admin.call('GET', `/${id}/dead-letters`, { query });
  assert.equal(reply.status, 200, reply.text);
  return reply.json().result.deadLetters;
}

test('an execution is tried again until it succeeds, in one record and one log, before those behind it', async () => {
  const { admin } = scene;
  const id = await runs(
    'echo "$MSG, try $_svc_attempt"; [ "$MSG" = later ] || [ $_svc_attempt = 3 ] || exit 4',
    { retries: 2 },
  );
  assert.equal((await admin.call('GET', `/${id}`)).json().result.retries, 2);
  const first = await admin.send(id, 'first');
  const later = await admin.send(id, 'later');
  const waiting = await until('the second try to be waited for', async () => {
    const record = await admin.record(id, first);
    return record.attempt === 2 && record.status === 'SUBMITTED' ? record : undefined;
  });
  assert.match(waiting.statusMessage, /^attempt 1 failed \(exit code 4\)/);
  assert.equal(waiting.exitCode, null);
  const record = await admin.ended(id, first);
  assert.deepEqual(
    [record.status, record.exitCode, record.attempt, record.statusMessage],
    ['COMPLETE', 0, 3, ''],
  );
  assert.equal(
    await admin.log(id, first),
    'first, try 1\n[reactord: attempt 2]\nfirst, try 2\n[reactord: attempt 3]\nfirst, try 3\n',
  );
  const behind = await admin.ended(id, later);
  assert.ok(record.finishTime <= behind.startTime, 'the one behind it did not wait');
  assert.deepEqual(await deadLetters(id), []);
  const { totalExecutions, totalCpu } = (await admin.call('GET', `/${id}/executions`)).json()
    .result;
  assert.equal(totalExecutions, 2);
  assert.equal(totalCpu, record.cpu + behind.cpu);
});

test('what fails for the last time is a dead letter, which can be replayed once and deleted', async () => {
  const { admin } = scene;
  const id = await runs('echo "$MSG $A"; [ "$A" = good ]', { retries: 1, max_workers: 2 });
  const failed = await admin.send(id, 'hello', { query: '?A=bad' });
  const record = await admin.ended(id, failed);
  assert.deepEqual([record.status, record.exitCode, record.attempt], ['COMPLETE', 1, 2]);
  const [letter, ...more] = await deadLetters(id);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [letter.executionId, letter.attempts, letter.exitCode, letter.reason, letter.size],
    [failed, 2, 1, 'exit code 1', 5],
  );
  const replays = await Promise.all(
    Array.from({ length: 4 }, () => admin.call('POST', `/${id}/dead-letters/${failed}`)),
  );
  assert.deepEqual(replays.map(({ status }) => status).sort(), [201, 404, 404, 404]);
  const replayed = replays.find(({ status }) => status === 201)?.json().result;
  assert.equal(replayed.replayOf, failed);
  const again = await admin.ended(id, replayed.executionId);
  assert.equal(await admin.log(id, again.id), 'hello bad\n[reactord: attempt 2]\nhello bad\n');
  assert.deepEqual(
    (await deadLetters(id)).map(({ executionId }: { executionId: string }) => executionId),
    [again.id],
  );
  const second = await admin.ended(id, await admin.send(id, 'x', { query: '?A=bad' }));
  const page = await admin.call('GET', `/${id}/dead-letters`, { query: '?limit=1' });
  assert.equal(page.json().result.deadLetters[0].executionId, second.id);
  const next = new URL(page.json().result._links.next).search;
  assert.equal((await deadLetters(id, next))[0].executionId, again.id);
  assert.equal((await admin.call('DELETE', `/${id}/dead-letters/${second.id}`)).status, 200);
  assert.equal((await admin.call('DELETE', `/${id}/dead-letters/${second.id}`)).status, 404);
  assert.equal((await admin.call('DELETE', `/${id}/dead-letters/%00`)).status, 404);
  assert.equal((await admin.call('DELETE', `/${id}/dead-letters`)).json().result.deleted, 1);
  const all = await admin.call('POST', `/${id}/dead-letters`);
  assert.deepEqual([all.status, all.json().result.replayed], [201, 0]);
});

test('what was halted is not tried again and is no dead letter; what ran out of time is', async () => {
  const { admin } = scene;
  const halted = await runs('sleep 60', { retries: 3 });
  const execution = await admin.send(halted);
  await admin.running(halted, execution);
  assert.equal((await admin.call('DELETE', `/${halted}/executions/${execution}`)).status, 200);
  assert.equal((await admin.ended(halted, execution)).attempt, 1);
  assert.deepEqual(await deadLetters(halted), []);
  const slow = await runs('sleep 60', { timeout: 1, retries: 1 });
  const late = await admin.ended(slow, await admin.send(slow));
  assert.equal(late.attempt, 2);
  assert.match((await deadLetters(slow))[0].reason, /ran longer than 1 s/);
});

test('a retry that waits survives a kill of the service, and a running one goes on', async () => {
  const { admin } = scene;
  const id = await runs(
    'echo "try $_svc_attempt"; [ $_svc_attempt = 1 ] && exit 1; sleep 1; echo end',
    {
      retries: 1,
    },
  );
  const execution = await admin.send(id);
  await until('the second try', async () => (await admin.record(id, execution)).attempt === 2);
  await scene.restart('SIGKILL');
  await until('the second try to run', async () => {
    const record = await admin.record(id, execution);
    return record.status === 'RUNNING' && (await admin.log(id, execution)).includes('try 2');
  });
  await scene.restart('SIGKILL');
  const record = await admin.ended(id, execution);
  assert.deepEqual([record.status, record.exitCode, record.attempt], ['COMPLETE', 0, 2]);
  assert.equal(await admin.log(id, execution), 'try 1\n[reactord: attempt 2]\ntry 2\nend\n');
});

test('retries are bounded', async () => {
  const ada = await scene.user('ada');
  for (const [retries, problem] of [
    [11, /retries: takes at most 10/],
    [-1, /retries/],
    ['many', /retries/],
  ] as const) {
    const reply = await ada.call('POST', '', {
      body: JSON.stringify({ image: 'busybox', retries }),
      type: 'application/json',
    });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.json().message, problem);
  }
});

test('the pause doubles up to its limit, and varies by half of it', () => {
  const settings = { retry_pause: 2, retry_longest_pause: 60 };
  assert.deepEqual(
    [1, 2, 3, 6, 99].map((tries) => pauseBefore(tries, settings, 1)),
    [2, 4, 8, 60, 60],
  );
  assert.equal(pauseBefore(1, settings, 0), 1);
});
