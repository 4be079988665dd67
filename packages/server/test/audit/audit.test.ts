import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';

let scene: Scene;
let ada: Sender;

before(async () => {
  scene = await openScene();
  ada = await scene.user('ada');
});
after(() => scene.dispose());

type Json = ReturnType<typeof JSON.parse>;

const entries = async (query = ''): Promise<Json[]> => {
  const reply = await scene.admin.call('GET', query, { area: '/audit/v2' });
  assert.equal(reply.status, 200, reply.text);
  return reply.json().result;
};

const put = (id: string, fields: object, sender = ada) =>
  sender.call('PUT', `/${id}`, { body: JSON.stringify(fields), type: 'application/json' });

test('whoever changes something is noted, with what, when, where from and how it ended', async () => {
  const image = scene.image.reference;
  const id = await ada.registerOnly({ image, name: 'noted' });
  await put(id, { image, description: 'new' });
  await put(id, { image, timeout: 'soon' });
  await put(id, { image }, await scene.user('mallory'));
  await ada.call('DELETE', `/${id}/messages`);
  await ada.call('DELETE', `/${id}`);
  const found = await entries(`?resource=/actors/v2/${id}`);
  assert.deepEqual(
    found.map(({ user, action, status }) => [user, action, status]),
    [
      ['ada', 'Delete a reactor', 200],
      ['ada', 'Purge the inbox', 200],
      ['mallory', 'Replace what a reactor is', 404],
      ['ada', 'Replace what a reactor is', 400],
      ['ada', 'Replace what a reactor is', 200],
      ['ada', 'Register a reactor', 201],
    ],
  );
  const [first] = found;
  assert.equal(first.client, 'tests');
  assert.equal(first.address, '127.0.0.1');
  assert.equal(first.method, 'DELETE');
  assert.ok(Math.abs(Date.parse(first.time) - Date.now()) < 60_000);
});

test('messages and reading are not noted, and neither is what nobody did', async () => {
  const id = await ada.registerOnly({ image: scene.image.reference });
  const before = (await entries('?limit=1000')).length;
  await ada.send(id);
  await ada.call('GET', '');
  await fetch(`${scene.service.url}/actors/v2`, { method: 'POST' });
  assert.equal((await entries('?limit=1000')).length, before);
});

test('users, clients, logins and revocations are noted, without a secret', async () => {
  const made = await scene.admin.call('POST', '', {
    area: '/profiles/v2',
    body: JSON.stringify({ username: 'newbie', password: 'a long enough word' }),
    type: 'application/json',
  });
  assert.equal(made.status, 201, made.text);
  const clients = new ClientsArea(scene.service, basic('newbie', 'a long enough word'));
  const { key, secret } = await clients.create('phone');
  const wrong = new ClientsArea(scene.service, basic('newbie', 'not the right word'));
  assert.equal((await wrong.call('GET', '')).status, 401);
  const nobody = new ClientsArea(scene.service, basic('my password by mistake', 'x'.repeat(20)));
  assert.equal((await nobody.call('GET', '')).status, 401);
  const token = await fetch(`${scene.service.url}/revoke`, {
    method: 'POST',
    headers: { authorization: basic(key, secret) },
    body: new URLSearchParams({ token: ada.token }),
  });
  assert.equal(token.status, 200);
  const all = await entries('?limit=1000');
  const mine = all.filter(({ user }) => user === 'newbie').map(({ action }) => action);
  assert.deepEqual(mine, ['End a token', 'Login failed', 'Register a client application', 'Login']);
  assert.ok(all.some(({ user, action }) => user === 'admin' && /user/i.test(action)));
  assert.deepEqual(
    (await entries('?user=newbie&action=Login+failed')).map(({ status }) => status),
    [401],
  );
  const text = JSON.stringify(all);
  for (const word of ['by mistake', 'enough word', secret, ada.token]) {
    assert.ok(!text.includes(word), word);
  }
});

test('entries come in pages and by time, for admins alone', async () => {
  const all = await entries('?limit=1000');
  const reply = await scene.admin.call('GET', '?limit=2', { area: '/audit/v2' });
  const next = /<[^>]*(\?[^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1] ?? '';
  const pages = [...reply.json().result, ...(await entries(next))];
  assert.deepEqual(
    pages.map(({ id }) => id),
    all.slice(0, 4).map(({ id }) => id),
  );
  const at = all[2].time;
  const since = await entries(`?limit=1000&from=${at}`);
  assert.ok(since.length >= 3 && since.every(({ time }) => time >= at));
  const until = await entries(`?limit=1000&to=${at}`);
  assert.ok(until.every(({ time }) => time < at));
  assert.deepEqual(await entries('?from=2999-01-01'), []);
  const bad = await scene.admin.call('GET', '?from=yesterday', { area: '/audit/v2' });
  assert.equal(bad.status, 400);
  assert.match(bad.json().message, /^from: takes a day or a time/);
  assert.equal((await ada.call('GET', '', { area: '/audit/v2' })).status, 403);
});
