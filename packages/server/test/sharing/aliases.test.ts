import assert from 'node:assert/strict';
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

const json = (body: unknown) => ({ body: JSON.stringify(body), type: 'application/json' });
const make = (by: Sender, alias: string, actorId: string) =>
  by.call('POST', '/aliases', json({ alias, actor_id: actorId }));

test('An alias works wherever the id does, under both spellings', async () => {
  const id = await ada.register({ image });
  const made = await make(ada, 'hello.world_1-a', id);
  assert.equal(made.status, 201, made.text);
  const { url } = scene.service;
  assert.deepEqual(made.json().result, {
    alias: 'hello.world_1-a',
    actorId: id,
    owner: 'ada',
    _links: {
      self: `${url}/actors/v2/aliases/hello.world_1-a`,
      owner: `${url}/profiles/v2/ada`,
      actor: `${url}/actors/v2/${id}`,
    },
  });
  const { id: execution, record } = await ada.runOnce('hello.world_1-a');
  assert.equal(record.actorId, id);
  assert.equal(record._links.self, `${url}/actors/v2/${id}/executions/${execution}`);
  for (const path of [
    '',
    '/messages',
    '/permissions',
    '/executions',
    `/executions/${execution}`,
    `/executions/${execution}/message`,
    `/executions/${execution}/logs`,
  ]) {
    const byAlias = await ada.call('GET', `/hello.world_1-a${path}`, { area: '/reactors/v2' });
    const byId = await ada.call('GET', `/${id}${path}`);
    assert.equal(byAlias.status, 200, `${path}: ${byAlias.text}`);
    assert.equal(byAlias.text, byId.text);
  }
  const put = await ada.call('PUT', '/hello.world_1-a', json({ image, description: 'by alias' }));
  assert.equal(put.json().result.id, id);
  assert.equal((await ada.call('DELETE', '/hello.world_1-a')).status, 200);
  for (const path of ['/hello.world_1-a', '/aliases/hello.world_1-a'])
    assert.equal((await ada.call('GET', path)).status, 404);
  // The name is free again.
  const other = await ada.registerOnly({ image });
  assert.equal((await make(ada, 'hello.world_1-a', other)).status, 201);
});

test('An alias moves at once, and takes camelCase too', async () => {
  const first = await ada.registerOnly({ image });
  const second = await ada.registerOnly({ image });
  assert.equal(
    (await ada.call('POST', '/aliases', json({ alias: 'moving', actorId: first }))).status,
    201,
  );
  assert.equal((await ada.call('GET', '/moving')).json().result.id, first);
  assert.equal((await ada.call('GET', '/moving/messages')).status, 200);
  const moved = await ada.call('PUT', '/aliases/moving', json({ actor_id: second }));
  assert.equal(moved.json().result.actorId, second);
  assert.equal((await ada.call('GET', '/moving')).json().result.id, second);
  const inbox = (await ada.call('GET', '/moving/messages')).json().result;
  assert.match(inbox._links.self, new RegExp(second));
  assert.equal((await ada.call('PUT', '/aliases/moving', json({ alias: 'x' }))).status, 400);
  assert.equal((await ada.call('DELETE', '/aliases/moving')).status, 200);
  assert.equal((await ada.call('GET', '/moving/messages')).status, 404);
  assert.equal((await ada.call('DELETE', '/aliases/moving')).status, 404);
});

test('One of many who ask for the same alias at once gets it', async () => {
  const id = await ada.registerOnly({ image });
  const replies = await Promise.all(Array.from({ length: 20 }, () => make(ada, 'wanted', id)));
  const statuses = replies.map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 409)]);
  const refused = replies.find(({ status }) => status === 409);
  assert.match(refused?.json().message, /an alias called wanted already/);
});

test('What cannot be an alias is refused in words', async () => {
  const id = await ada.registerOnly({ image });
  for (const alias of ['', 'a b', 'a/b', 'ü', 'a:b', 'x'.repeat(129), '.', '..', id, 7, null]) {
    const reply = await ada.call('POST', '/aliases', json({ alias, actor_id: id }));
    assert.equal(reply.status, 400, `${alias}: ${reply.text}`);
    assert.match(reply.json().message, /^alias: /);
  }
  const document = JSON.parse(await (await fetch(`${scene.service.url}/openapi.json`)).text());
  const words = Object.keys(document.paths).flatMap(
    (path) => /^\/actors\/v2\/([^/{]+)/.exec(path)?.[1] ?? [],
  );
  assert.ok(words.includes('aliases'));
  for (const word of [...words, 'search', 'utilization', 'configs', 'nonces', 'Executions']) {
    const reply = await make(ada, word, id);
    assert.equal(reply.status, 400, `${word} is the name of an operation: ${reply.text}`);
  }
  assert.equal((await make(ada, 'nowhere', 'nothing')).status, 404);
  assert.equal((await ada.call('POST', '/aliases', json({ alias: 'nowhere' }))).status, 400);
});

test('An alias has permissions of its own, and gives none on its reactor', async () => {
  const id = await ada.registerOnly({ image });
  assert.equal((await make(bob, 'stolen', id)).status, 404);
  await make(ada, 'shared', id);
  const own = '/aliases/shared/permissions';
  assert.equal((await bob.call('GET', '/aliases/shared')).status, 404);
  const given = await ada.call('POST', own, json({ user: 'bob', level: 'READ' }));
  assert.deepEqual(given.json().result, { ada: 'UPDATE', bob: 'READ' });
  assert.equal((await bob.call('GET', '/aliases/shared')).status, 200);
  assert.equal((await bob.call('GET', '/shared')).status, 404);
  const refused = await bob.call('DELETE', '/aliases/shared');
  assert.equal(refused.status, 403);
  assert.match(refused.json().message, /permission UPDATE on the alias shared/);
  await ada.call('POST', own, json({ user: 'bob', level: 'UPDATE' }));
  // To move it, UPDATE on the other reactor is needed too.
  const ofBob = await bob.registerOnly({ image });
  const stranger = await ada.registerOnly({ image });
  assert.equal(
    (await bob.call('PUT', '/aliases/shared', json({ actor_id: stranger }))).status,
    404,
  );
  assert.equal((await bob.call('PUT', '/aliases/shared', json({ actor_id: ofBob }))).status, 200);
  const names = async (by: Sender) =>
    (await by.call('GET', '/aliases')).json().result.map((each: { alias: string }) => each.alias);
  assert.ok((await names(bob)).includes('shared'));
  await ada.call('POST', own, json({ user: 'bob', level: 'NONE' }));
  // It leads to bob's reactor, so it is bob's to end.
  assert.equal((await bob.call('DELETE', '/aliases/shared')).status, 200);
  assert.ok(!(await names(ada)).includes('shared'));
  await make(ada, 'open', id);
  await ada.call('POST', '/aliases/open/permissions', json({ user: 'WORLD', level: 'READ' }));
  assert.deepEqual(await names(bob), ['open']);
  assert.equal((await ada.call('GET', '/aliases?limit=1&offset=1')).json().result.length, 1);
});
