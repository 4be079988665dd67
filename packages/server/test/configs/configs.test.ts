import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';

let scene: Scene;
let ada: Sender;
let bob: Sender;
let image: string;

before(async () => {
  scene = await openScene();
  image = scene.image.reference;
  ada = await scene.user('ada');
  bob = await scene.user('bob');
});
after(() => scene.dispose());

type Json = ReturnType<typeof JSON.parse>;
const json = (body: unknown) => ({ body: JSON.stringify(body), type: 'application/json' });

async function make(fields: unknown, by = ada): Promise<Json> {
  const reply = await by.call('POST', '/configs', json(fields));
  assert.equal(reply.status, 201, reply.text);
  return reply.json().result;
}

const put = (name: string, fields: unknown, by = ada) =>
  by.call('PUT', `/configs/${name}`, json(fields));

test('Containers get configs one by one and together, and no message replaces them', async () => {
  const id = await ada.register({
    image,
    default_environment: { RUN: 'echo "$A|$SECRET_WORD|$_actor_configs"', A: 'registered' },
  });
  assert.equal((await ada.runOnce(id)).log, 'registered||{}\n');
  await ada.call('POST', '/aliases', json({ alias: 'with-configs', actor_id: id }));
  const record = await make({ name: 'A', value: 'from a config', actors: 'with-configs' });
  const { url } = scene.service;
  assert.deepEqual(
    { ...record, createTime: '', lastUpdateTime: '' },
    {
      name: 'A',
      value: 'from a config',
      isSecret: false,
      actors: id,
      owner: 'ada',
      createTime: '',
      lastUpdateTime: '',
      _links: { self: `${url}/actors/v2/configs/A`, owner: `${url}/profiles/v2/ada` },
    },
  );
  const secret = await make({
    name: 'SECRET_WORD',
    value: 'open sesame',
    isSecret: true,
    actors: [id],
  });
  assert.equal(secret.value, null);
  const { log } = await ada.runOnce(id, 'hello', { query: '?A=sent&SECRET_WORD=sent' });
  const together = '{"A":"from a config","SECRET_WORD":"[redacted]"}';
  assert.equal(log, `from a config|[redacted]|${together}\n`);
  assert.equal((await put('A', { value: 'changed' })).status, 200);
  assert.match((await ada.runOnce(id)).log, /^changed\|/);
  assert.equal((await put('A', { actors: '' })).json().result.actors, '');
  assert.match((await ada.runOnce(id)).log, /^registered\|/);
  assert.equal((await ada.call('DELETE', '/configs/SECRET_WORD')).status, 200);
  assert.equal((await ada.runOnce(id)).log, 'registered||{}\n');
  assert.equal((await ada.call('DELETE', '/configs/SECRET_WORD')).status, 404);
  assert.equal((await ada.call('DELETE', '/configs/A')).status, 200);
});

test('A secret is nowhere: not in replies, the log of the service, the store or the logs of executions', async () => {
  const secret = 'line one of the secret\nline two of the secret "ü"';
  const id = await ada.register({
    image,
    default_environment: {
      RUN: 'echo "$KEY"; echo "$KEY" | awk \'{print "> " $0}\'; env | grep _actor_configs; echo "$PIN"',
    },
  });
  await make({ name: 'KEY', value: secret, is_secret: true, actors: id });
  await make({ name: 'PIN', value: '1234', is_secret: 'true', actors: id });
  const shown = [
    await ada.call('GET', '/configs'),
    await ada.call('GET', '/configs/KEY'),
    await put('KEY', { actors: id }),
    await ada.call('GET', `/${id}`),
  ];
  for (const { text, status } of shown) {
    assert.equal(status, 200);
    assert.doesNotMatch(text, /of the secret/);
  }
  const { log, record } = await ada.runOnce(id);
  assert.equal(record.exitCode, 0);
  assert.doesNotMatch(log, /of the secret/);
  assert.match(log, /^\[redacted\]\n> \[redacted\]\n> \[redacted\]\n_actor_configs=/);
  // Too short to be taken out of everything that is written.
  assert.match(log, /\n1234\n$/);
  const { data } = scene.service;
  for (const file of ['reactord.db', 'reactord.db-wal', 'logs.db', 'logs.db-wal'])
    assert.ok(!readFileSync(join(data, file)).includes('of the secret'), file);
  assert.doesNotMatch(scene.service.output(), /of the secret/);
  assert.equal(statSync(join(data, 'secrets.key')).mode & 0o777, 0o600);
  // A secret that is to be one no longer has to be said again.
  const revealed = await put('KEY', { is_secret: false });
  assert.equal(revealed.status, 400);
  assert.match(revealed.json().message, /^value: is required/);
  const open = await put('KEY', { is_secret: false, value: 'plain' });
  assert.equal(open.json().result.value, 'plain');
  assert.equal((await put('KEY', { is_secret: true })).json().result.value, null);
  for (const name of ['KEY', 'PIN']) await ada.call('DELETE', `/configs/${name}`);
});

test('Configs belong to their user, and UPDATE is needed on every reactor', async () => {
  const id = await ada.registerOnly({ image });
  const share = (level: string) =>
    ada.call('POST', `/${id}/permissions`, json({ user: 'bob', level }));
  await make({ name: 'OURS', value: 'x', actors: id });
  await make({ name: 'OURS', value: 'x' }, bob);
  assert.equal((await bob.call('GET', '/configs')).json().result.length, 1);
  assert.equal((await put('OURS', { actors: id }, bob)).status, 404);
  await share('EXECUTE');
  assert.equal((await put('OURS', { actors: id }, bob)).status, 403);
  await share('UPDATE');
  const taken = await put('OURS', { actors: id }, bob);
  assert.equal(taken.status, 409);
  assert.match(taken.json().message, /has a config called OURS of somebody else/);
  await make({ name: 'BOBS', value: 'x', actors: `${id}, ${id}` }, bob);
  assert.equal((await ada.call('GET', '/configs/BOBS')).status, 404);
  assert.equal((await ada.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await bob.call('GET', '/configs/BOBS')).json().result.actors, '');
});

test('Of many who make the same config at once, one is first', async () => {
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, value) =>
      ada.call('POST', '/configs', json({ name: 'ONCE', value })),
    ),
  );
  const statuses = replies.map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [201, ...Array.from({ length: 9 }, () => 409)]);
  const changes = await Promise.all(
    Array.from({ length: 10 }, (_, value) => put('ONCE', { value: `changed ${value}` })),
  );
  assert.ok(changes.every(({ status }) => status === 200 || status === 409));
  assert.match((await ada.call('GET', '/configs/ONCE')).json().result.value, /^changed \d$/);
});

test('What cannot be a config is refused in words', async () => {
  const id = await ada.registerOnly({ image });
  for (const [fields, status, words] of [
    [{ name: 'MSG', value: 'x' }, 400, /^name: is reserved/],
    [{ name: '_svc_actor_id', value: 'x' }, 400, /^name: is reserved/],
    [{ name: '_actor_configs', value: 'x' }, 400, /^name: is reserved/],
    [{ name: 'LD_PRELOAD', value: 'x' }, 400, /^name: is reserved/],
    [{ name: '', value: 'x' }, 400, /^name: is not a name/],
    [{ name: 'a-b', value: 'x' }, 400, /^name: is not a name/],
    [{ name: 'x'.repeat(256), value: 'x' }, 400, /^name: is not a name/],
    [{ value: 'x' }, 400, /^name: is required/],
    [{ name: 'A1' }, 400, /^value: is required/],
    [{ name: 'A1', value: 'a\0b' }, 400, /^value: takes text without NUL/],
    [{ name: 'A1', value: 'x'.repeat(64 * 1024 + 1) }, 400, /^value: takes at most 64 KiB/],
    [{ name: 'A1', value: 'x', is_secret: 'perhaps' }, 400, /^is_secret: takes true or false/],
    [{ name: 'A1', value: 'x', actors: 'nothing' }, 404, /no reactor called nothing/],
    [{ name: 'A1', value: 'x', actors: [7] }, 400, /^actors/],
    [{ name: 'A1', value: 'x', actor: id }, 400, /actor is not a field.*did you mean actors/],
  ] as const) {
    const reply = await ada.call('POST', '/configs', json(fields));
    assert.equal(reply.status, status, reply.text);
    assert.match(reply.json().message, words);
  }
  const swollen = { name: 'SWOLLEN', value: '\u0001'.repeat(50 * 1024), actors: id };
  assert.equal((await ada.call('POST', '/configs', json(swollen))).status, 409);
  const big = 'x'.repeat(50 * 1024);
  await make({ name: 'BIG1', value: big, actors: id });
  await make({ name: 'BIG2', value: big, actors: id });
  const full = await ada.call('POST', '/configs', json({ name: 'BIG3', value: big, actors: id }));
  assert.equal(full.status, 409);
  assert.match(full.json().message, /over 120 KiB together/);
  assert.equal((await make({ name: 'OBJECT', value: { a: [1] } })).value, '{"a":[1]}');
  assert.equal((await put('OBJECT', { name: 'OTHER' })).status, 400);
  const overridden = await ada.call('POST', `/${id}/messages?message=x&_actor_configs=x`);
  assert.equal(overridden.status, 400);
});

test('A service that comes back keeps the secret out of what it had not read yet', async () => {
  const id = await ada.register({
    image,
    default_environment: { RUN: 'echo "$WORD"; sleep 3; echo "$WORD"' },
  });
  await make({ name: 'WORD', value: 'open sesame', is_secret: true, actors: id });
  const execution = await ada.send(id);
  await ada.running(id, execution);
  // What was delivered counts, also once it is another secret.
  assert.equal((await put('WORD', { value: 'something else' })).status, 200);
  await scene.restart('SIGKILL');
  await ada.ended(id, execution);
  assert.equal(await ada.log(id, execution), '[redacted]\n[redacted]\n');
});
