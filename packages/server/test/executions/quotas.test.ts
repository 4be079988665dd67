import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** How much of the service one user may take up. */

let scene: Scene;
let ada: Sender;

before(async () => {
  scene = await openScene({ environment: { REACTORD_QUOTA_REACTORS: '3' } });
  ada = await scene.user('ada');
});

after(() => scene.dispose());

async function setQuotas(quotas: unknown, by = scene.admin, status = 200) {
  const reply = await by.call('PUT', '/ada', {
    area: '/profiles/v2',
    body: JSON.stringify({ quotas }),
    type: 'application/json',
  });
  assert.equal(reply.status, status, reply.text);
  return reply.json();
}

const register = (sender: Sender) =>
  sender.call('POST', '', {
    body: JSON.stringify({ image: 'localhost:1/no/such:image' }),
    type: 'application/json',
  });

test('only an admin sets quotas, field by field, and the profile shows them', async () => {
  const set = await setQuotas({ reactors: 5, waiting_messages: 10 });
  const nothing = { reactors: null, waitingMessages: null, containers: null, storedBytes: null };
  assert.deepEqual(set.quotas, { ...nothing, reactors: 5, waitingMessages: 10 });
  const other = await setQuotas({ waitingMessages: null });
  assert.deepEqual(other.quotas, { ...nothing, reactors: 5 });
  assert.match(
    (await setQuotas({ reactors: 6 }, ada, 403)).message,
    /Only an admin may change quotas/,
  );
  for (const quotas of [{ reactors: -1 }, { reactors: 1.5 }, { reactors: 'x' }, { unknown: 1 }, 7])
    await setQuotas(quotas, scene.admin, 400);
  const own = await ada.call('GET', '/me', { area: '/profiles/v2' });
  assert.equal(own.json().quotas.reactors, 5);
  await setQuotas({ reactors: null });
});

test('a user has no more reactors than allowed, also when many are registered at once', async () => {
  const replies = await Promise.all(Array.from({ length: 8 }, () => register(ada)));
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, 201, 201, 409, 409, 409, 409, 409]);
  assert.match(
    replies.find(({ status }) => status === 409)?.json().message ?? '',
    /You may have 3 reactors/,
  );
  for (const reply of replies)
    if (reply.status === 201) await ada.call('DELETE', `/${reply.json().result.id}`);
  assert.equal((await register(ada)).status, 201);
  for (let at = 0; at < 4; at += 1) assert.equal((await register(scene.admin)).status, 201);
});

test('messages over the quota are refused with the time to come back, until there is room', async () => {
  await setQuotas({ reactors: 100, waitingMessages: 3 });
  const id = await ada.registerOnly({ image: 'localhost:1/no/such:image' });
  const send = (posted = {}) => ada.post(id, { body: 'hello', type: 'text/plain', ...posted });
  const replies = await Promise.all(Array.from({ length: 9 }, () => send()));
  assert.equal(replies.filter(({ status }) => status === 201).length, 3);
  const over = replies.find(({ status }) => status !== 201);
  assert.equal(over?.status, 429);
  assert.ok(Number(over?.headers.get('retry-after')) > 0);
  assert.match(over?.json().message, /may have 3 messages waiting, and has 3/);
  assert.equal((await send({ query: '?delay=60' })).status, 429);
  // It is the owner's inbox, whoever posts.
  assert.equal((await scene.admin.post(id, { body: 'x', type: 'text/plain' })).status, 429);
  await ada.call('DELETE', `/${id}/messages`);
  const batch = { body: '1\n2\n3\n4', type: 'application/x-ndjson' };
  assert.equal((await ada.post(id, batch)).status, 429);
  assert.equal((await ada.post(id, { ...batch, body: '1\n2\n3' })).status, 201);
  await setQuotas({ waitingMessages: null, storedBytes: 40 });
  await ada.call('DELETE', `/${id}/messages`);
  const large = await send({ body: 'x'.repeat(41) });
  assert.equal(large.status, 409, large.text);
  assert.match(large.json().message, /may keep 40 bytes/);
  await setQuotas({ storedBytes: null });
  assert.equal((await send()).status, 201);
});

test('containers over the quota wait, and every reactor of the user comes to its turn', async () => {
  await setQuotas({ containers: 1 });
  const fields = {
    image: scene.image.reference,
    default_environment: { RUN: 'sleep 0.5' },
    max_workers: 3,
  };
  const one = await ada.register(fields);
  const two = await ada.register(fields);
  const sent: [string, string][] = [];
  for (const id of [one, one, one, two, two]) sent.push([id, await ada.send(id)]);
  const records: { actorId: string; startTime: string; finishTime: string }[] = [];
  for (const [id, execution] of sent) records.push(await ada.ended(id, execution));
  for (const record of records) {
    const beside = records.filter(
      (other) => other.startTime <= record.startTime && other.finishTime > record.startTime,
    );
    assert.equal(beside.length, 1, 'two ran at once');
  }
  const order = records.toSorted((a, b) => (a.startTime < b.startTime ? -1 : 1));
  const firstOfTwo = order.findIndex(({ actorId }) => actorId === two);
  assert.ok(firstOfTwo <= 2, `the second reactor came only at place ${firstOfTwo}`);
  await setQuotas({ containers: null });
  const together = [await ada.send(one), await ada.send(one)];
  await until('two to run at once', async () => {
    const now = await Promise.all(together.map((id) => ada.record(one, id)));
    return (
      now.every(({ status }) => status === 'RUNNING') ||
      now.every(({ status }) => status === 'COMPLETE')
    );
  });
});
