import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hashSecret, newSecret } from '../../src/oauth/secret-format.ts';
import { once } from '../../src/store/statement.ts';
import { addUser, besideService } from '../harness/beside-service.ts';
import { openScene, type Scene, Sender } from '../harness/execution-scene.ts';

let scene: Scene;
let ada: Sender;
let bob: Sender;
let cleo: Sender;

before(async () => {
  scene = await openScene();
  ada = await scene.user('ada');
  bob = await scene.user('bob');
  cleo = await scene.user('cleo');
});
after(() => scene.dispose());

const json = (body: unknown) => ({ body: JSON.stringify(body), type: 'application/json' });

async function give(by: Sender, name: string, user: string, level: string): Promise<unknown> {
  const reply = await by.call('POST', `/${name}/permissions`, json({ user, level }));
  assert.equal(reply.status, 200, reply.text);
  return reply.json().result;
}

/** Every operation on a reactor and its executions, and the permission that it needs. */
const operations = (id: string, execution: string) =>
  [
    ['GET', `/${id}`, 'READ'],
    ['GET', `/${id}/permissions`, 'READ'],
    ['GET', `/${id}/messages`, 'READ'],
    ['GET', `/${id}/executions`, 'READ'],
    ['GET', `/${id}/executions/${execution}`, 'READ'],
    ['GET', `/${id}/executions/${execution}/logs`, 'READ'],
    ['GET', `/${id}/executions/${execution}/message`, 'READ'],
    ['POST', `/${id}/messages?message=x`, 'EXECUTE'],
    ['DELETE', `/${id}/executions/${execution}`, 'UPDATE'],
    ['DELETE', `/${id}/messages`, 'UPDATE'],
    ['POST', `/${id}/permissions`, 'UPDATE'],
    ['PUT', `/${id}`, 'UPDATE'],
  ] as const;

const levels = ['NONE', 'READ', 'EXECUTE', 'UPDATE'];

function bodyFor(method: string, path: string) {
  if (method === 'PUT') return json({ image: scene.image.reference });
  return path.endsWith('/permissions') && method === 'POST'
    ? json({ user: 'dora', level: 'NONE' })
    : {};
}

test('Each level opens what needs it, and nothing above', async () => {
  await addUser(scene.service, { username: 'dora', password: 'a long enough word' });
  const id = await ada.register({ image: scene.image.reference });
  const { id: execution } = await ada.runOnce(id);
  for (const user of ['bob', 'WORLD']) {
    for (const level of levels) {
      await give(ada, id, user, level);
      for (const [method, path, needs] of operations(id, execution)) {
        const reply = await bob.call(method, path, bodyFor(method, path));
        const enough = levels.indexOf(level) >= levels.indexOf(needs);
        const said = `${method} ${path} at ${level}: ${reply.status} ${reply.text}`;
        if (level === 'NONE') assert.equal(reply.status, 404, said);
        else if (!enough) {
          assert.equal(reply.status, 403, said);
          assert.match(reply.json().message, new RegExp(`permission ${needs} .*yours is ${level}`));
        } else assert.ok([200, 201, 409].includes(reply.status), said);
      }
    }
    await give(ada, id, user, 'NONE');
  }
});

test('The map names everyone, the owner included, and is part of the record', async () => {
  const id = await ada.registerOnly({ image: scene.image.reference });
  assert.deepEqual((await ada.call('GET', `/${id}/permissions`)).json().result, { ada: 'UPDATE' });
  await give(ada, id, 'bob', 'READ');
  await give(ada, id, 'bob', 'EXECUTE');
  const all = await give(ada, id, 'ABACO_WORLD', 'READ');
  assert.deepEqual(all, { ada: 'UPDATE', bob: 'EXECUTE', WORLD: 'READ' });
  assert.deepEqual((await cleo.call('GET', `/${id}`)).json().result.permissions, all);
  assert.deepEqual(await give(ada, id, 'WORLD', 'NONE'), { ada: 'UPDATE', bob: 'EXECUTE' });
  assert.equal((await cleo.call('GET', `/${id}`)).status, 404);
  assert.deepEqual(await give(ada, id, 'bob', 'NONE'), { ada: 'UPDATE' });
});

test('What cannot be a permission is refused in words', async () => {
  const id = await ada.registerOnly({ image: scene.image.reference });
  const post = (body: unknown) => ada.call('POST', `/${id}/permissions`, json(body));
  for (const [body, status, words] of [
    [{ user: 'nobody', level: 'READ' }, 404, /no user called nobody/],
    [{ user: 'bob', level: 'ALL' }, 400, /level: takes one of NONE, READ, EXECUTE, UPDATE/],
    [{ user: 'bob' }, 400, /level: is required/],
    [{ level: 'READ' }, 400, /user: is required/],
    [{ user: '', level: 'READ' }, 400, /user: takes/],
    [{ user: 7, level: 'READ' }, 400, /user: takes/],
    [{ user: 'ada', level: 'READ' }, 400, /ada is the owner/],
    [{ user: 'bob', level: 'READ', more: 1 }, 400, /more is not a field/],
  ] as const) {
    const reply = await post(body);
    assert.equal(reply.status, status, reply.text);
    assert.match(reply.json().message, words);
  }
  const form = await ada.call('POST', `/${id}/permissions`, {
    body: 'user=bob&level=READ',
    type: 'application/x-www-form-urlencoded',
  });
  assert.deepEqual(form.json().result, { ada: 'UPDATE', bob: 'READ' });
  const taken = await fetch(`${scene.service.url}/profiles/v2`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.admin.token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ username: 'World', password: 'a long enough word' }),
  });
  assert.equal(taken.status, 400);
});

test('Given twice at once, a permission is there once', async () => {
  const id = await ada.registerOnly({ image: scene.image.reference });
  await Promise.all(
    Array.from({ length: 10 }, (_, number) =>
      give(ada, id, 'bob', number % 2 === 0 ? 'READ' : 'UPDATE'),
    ),
  );
  const map = (await ada.call('GET', `/${id}/permissions`)).json().result;
  assert.deepEqual(Object.keys(map), ['ada', 'bob']);
});

test('Lists have what is shared, once, in pages that go on from a cursor', async () => {
  const erin = await scene.user('erin');
  const ids: string[] = [];
  for (let number = 0; number < 9; number += 1) {
    const owner = number % 3 === 0 ? erin : cleo;
    ids.unshift(await owner.registerOnly({ image: scene.image.reference }));
    const [id = ''] = ids;
    if (number % 3 === 1) await give(cleo, id, 'erin', 'READ');
    if (number % 3 === 2) await give(cleo, id, 'WORLD', 'READ');
    // More than one way leads to these.
    if (number === 3) await give(erin, id, 'WORLD', 'READ');
    if (number === 5) await give(cleo, id, 'erin', 'EXECUTE');
  }
  const walked: string[] = [];
  let query: string | undefined = '?limit=2';
  while (query !== undefined) {
    const reply = await erin.call('GET', query);
    assert.equal(reply.status, 200, reply.text);
    walked.push(...reply.json().result.map((record: { id: string }) => record.id));
    query = /\/actors\/v2(\?[^>]*)>/.exec(reply.headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(walked, ids);
  const page = await erin.call('GET', '?limit=3&offset=4');
  assert.deepEqual(
    page.json().result.map((record: { id: string }) => record.id),
    ids.slice(4, 7),
  );
  for (const id of ids) {
    for (const owner of [erin, cleo]) await owner.call('DELETE', `/${id}`);
  }
  assert.deepEqual((await erin.call('GET', '')).json().result, []);
});

test('What a deleted reactor has left stays with its owner alone', async () => {
  const id = await ada.register({ image: scene.image.reference });
  const { id: execution } = await ada.runOnce(id);
  await give(ada, id, 'bob', 'UPDATE');
  assert.equal((await bob.call('GET', `/${id}/executions/${execution}`)).status, 200);
  assert.equal((await bob.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await ada.record(id, execution)).status, 'COMPLETE');
  assert.equal((await ada.call('GET', `/${id}/executions`)).json().result.totalExecutions, 1);
  for (const path of [`/${id}/executions`, `/${id}/executions/${execution}`])
    assert.equal((await bob.call('GET', path)).status, 404);
});

test('Who is disabled or deleted loses what was shared with them', async () => {
  const id = await ada.registerOnly({ image: scene.image.reference });
  const profile = (method: string, name: string, body?: unknown) =>
    fetch(`${scene.service.url}/profiles/v2/${name}`, {
      method,
      headers: {
        authorization: `Bearer ${scene.admin.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  for (const name of ['finn', 'gwen']) {
    await scene.user(name);
    await give(ada, id, name, 'UPDATE');
  }
  assert.equal((await profile('PUT', 'finn', { status: 'disabled' })).status, 200);
  assert.equal((await profile('DELETE', 'gwen')).status, 200);
  assert.deepEqual((await ada.call('GET', `/${id}/permissions`)).json().result, { ada: 'UPDATE' });
});

test('The role of an admin does not go into containers that the admin has set off', async () => {
  const id = await ada.registerOnly({ image: scene.image.reference });
  const own = await scene.admin.registerOnly({ image: scene.image.reference });
  const token = newSecret('accessToken');
  await besideService(scene.service, async (store) => {
    const { id: user_id } = await store.read
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'admin')
      .executeTakeFirstOrThrow();
    const times = { issued_at: Date.now(), expires_at: Date.now() + 60_000 };
    const given = { user_id, client_id: null, flow: 'execution', scope: 'PRODUCTION', ...times };
    await store.write(
      once((db) => db.insertInto('access_tokens').values({ ...given, hash: hashSecret(token) })),
    );
  });
  const container = new Sender(scene.service, token);
  assert.equal((await container.call('GET', `/${own}`)).status, 200);
  assert.equal((await container.call('GET', `/${id}`)).status, 404);
  assert.equal((await container.call('GET', '?all=true')).status, 403);
  assert.equal((await scene.admin.call('GET', `/${id}`)).status, 200);
});
