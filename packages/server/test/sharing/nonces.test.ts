import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

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

async function make(place: string, fields: unknown = {}, by = ada): Promise<Json> {
  const reply = await by.call('POST', `/${place}/nonces`, json(fields));
  assert.equal(reply.status, 201, reply.text);
  return reply.json().result;
}

/** A request without any header that proves something. */
async function anonymous(method: string, path: string, nonce?: string, sent = {}) {
  const joined = path.includes('?') ? '&' : '?';
  const query = nonce === undefined ? '' : `${joined}x-nonce=${encodeURIComponent(nonce)}`;
  const reply = await fetch(`${scene.service.url}/actors/v2${path}${query}`, { method, ...sent });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, text, json: (): Json => JSON.parse(text) };
}

const give = (id: string, user: string, level: string) =>
  ada.call('POST', `/${id}/permissions`, json({ user, level }));

test('A nonce acts for its owner on its reactor, and its record counts the uses', async () => {
  const id = await ada.register({ image });
  const nonce = await make(id, { description: 'for tests', max_uses: 3 });
  assert.match(nonce.id, /^rct_nc_[0-9A-Za-z]{49}$/);
  const { url } = scene.service;
  assert.deepEqual(
    { ...nonce, createTime: '' },
    {
      id: nonce.id,
      level: 'EXECUTE',
      maxUses: 3,
      currentUses: 0,
      remainingUses: 3,
      owner: 'ada',
      actorId: id,
      description: 'for tests',
      roles: [],
      apiServer: url,
      createTime: '',
      lastUseTime: null,
      _links: {
        self: `${url}/actors/v2/${id}/nonces/${nonce.id}`,
        owner: `${url}/profiles/v2/ada`,
        actor: `${url}/actors/v2/${id}`,
      },
    },
  );
  const posted = await anonymous('POST', `/${id}/messages?message=hello&LEVEL=3`, nonce.id);
  assert.equal(posted.status, 201, posted.text);
  const { executionId } = posted.json().result;
  const record = await ada.ended(id, executionId);
  assert.equal(record.executor, 'ada');
  assert.equal((await anonymous('GET', `/${id}`, nonce.id)).status, 200);
  const shown = (await ada.call('GET', `/${id}/nonces/${nonce.id}`)).json().result;
  assert.deepEqual([shown.currentUses, shown.remainingUses], [2, 1]);
  assert.match(shown.lastUseTime, /^\d{4}-.*Z$/);
  const list = (await ada.call('GET', `/${id}/nonces`)).json().result;
  assert.deepEqual(list, [shown]);
  assert.equal((await ada.call('DELETE', `/${id}/nonces/${nonce.id}`)).status, 200);
  assert.equal((await anonymous('GET', `/${id}`, nonce.id)).status, 401);
  assert.equal((await ada.call('DELETE', `/${id}/nonces/${nonce.id}`)).status, 404);
  assert.equal((await ada.call('GET', `/${id}/nonces/nonsense`)).status, 404);
  // It never was a variable of the container, and never came into the log of the service.
  await until('the log to tell of the request', () => scene.service.output().includes('x-nonce'));
  assert.ok(!scene.service.output().includes(nonce.id));
});

test('Of many requests at once exactly as many get through as there are uses', async () => {
  const id = await ada.registerOnly({ image });
  const nonce = await make(id, { max_uses: 7 });
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => anonymous('POST', `/${id}/messages?message=x`, nonce.id)),
  );
  const count = (status: number) => replies.filter((reply) => reply.status === status).length;
  assert.deepEqual([count(201), count(401)], [7, 33]);
  const { totalExecutions } = (await ada.call('GET', `/${id}/executions`)).json().result;
  assert.equal(totalExecutions, 7);
  const shown = (await ada.call('GET', `/${id}/nonces/${nonce.id}`)).json().result;
  assert.deepEqual([shown.currentUses, shown.remainingUses], [7, 0]);
  const late = await anonymous('GET', `/${id}`, nonce.id);
  assert.equal(late.status, 401);
  assert.match(late.json().message, /nonce is unknown, has been used up or was deleted/);
  assert.equal(late.json().fault.code, 900904);
});

test('A request that is refused for its level does not count', async () => {
  const id = await ada.registerOnly({ image });
  const nonce = await make(id, { level: 'READ', maxUses: 1 });
  for (let time = 0; time < 3; time += 1) {
    const refused = await anonymous('POST', `/${id}/messages?message=x`, nonce.id);
    assert.equal(refused.status, 403);
    assert.match(refused.json().message, /permission EXECUTE .*yours is READ/);
  }
  assert.equal((await anonymous('GET', `/${id}/executions`, nonce.id)).status, 200);
  assert.equal((await anonymous('GET', `/${id}/executions`, nonce.id)).status, 401);
});

test('A nonce opens nothing else', async () => {
  const id = await ada.registerOnly({ image });
  const other = await ada.registerOnly({ image });
  const ofAdmin = await make(id, { level: 'UPDATE' }, scene.admin);
  const { id: nonce } = await make(id, { level: 'UPDATE' });
  await give(id, 'bob', 'READ');
  for (const opener of [nonce, ofAdmin.id]) {
    assert.equal((await anonymous('GET', `/${other}`, opener)).status, 404);
    assert.equal((await anonymous('POST', `/${other}/messages?message=x`, opener)).status, 404);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?all=true'],
      ['POST', ''],
      ['GET', '/aliases'],
      ['POST', '/aliases'],
      ['GET', '/configs'],
      ['POST', '/configs'],
      ['GET', `/${id}/nonces`],
      ['POST', `/${id}/nonces`],
      ['GET', `/${id}/nonces/${opener}`],
      ['DELETE', `/${id}/nonces/${opener}`],
      ['POST', `/${id}/permissions`],
    ] as const) {
      const reply = await anonymous(method, path, opener);
      assert.equal(reply.status, 401, `${method} ${path}: ${reply.text}`);
    }
    for (const path of ['/profiles/v2/me', '/clients/v2']) {
      const reply = await fetch(`${scene.service.url}${path}?x-nonce=${opener}`);
      assert.equal(reply.status, 401);
    }
    // Its owner may be an admin; what it opens is the reactor, within what everyone may do.
    const put = await anonymous('PUT', `/${id}`, opener, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ image, mem_limit: '1000g' }),
    });
    assert.equal(put.status, 400, put.text);
  }
  for (const wrong of ['', 'x', `${nonce}x`, nonce.slice(0, -1), `${nonce}&x-nonce=${nonce}`])
    assert.equal((await anonymous('GET', `/${id}`, wrong)).status, 401, wrong);
  const twice = await fetch(
    `${scene.service.url}/actors/v2/${id}?x-nonce=${nonce}&x-nonce=${nonce}`,
  );
  assert.equal(twice.status, 401);
  // With a token, the token counts.
  assert.equal((await bob.call('GET', `/${other}?x-nonce=${nonce}`)).status, 404);
  assert.equal((await bob.call('PUT', `/${id}?x-nonce=${nonce}`, json({ image }))).status, 403);
  const broken = await fetch(`${scene.service.url}/actors/v2/${id}?x-nonce=${nonce}`, {
    headers: { authorization: 'Bearer nonsense' },
  });
  assert.equal(broken.status, 401);
});

test('A nonce never does more than its owner may at that moment, and ends with what it needs', async () => {
  const id = await ada.registerOnly({ image });
  const gwen = await scene.user('gwen');
  await give(id, 'gwen', 'UPDATE');
  const { id: nonce } = await make(id, { level: 'UPDATE' }, gwen);
  const open = async (method = 'DELETE') =>
    (await anonymous(method, `/${id}/messages`, nonce)).status;
  assert.equal(await open(), 200);
  await give(id, 'gwen', 'READ');
  assert.equal(await open(), 403);
  assert.equal(await open('GET'), 200);
  // What others have made is not shown to those who may only read: it would be theirs to use.
  await make(id, { level: 'UPDATE' });
  const seen = (await gwen.call('GET', `/${id}/nonces`)).json().result;
  assert.deepEqual(
    seen.map((each: Json) => each.id),
    [nonce],
  );
  assert.equal((await gwen.call('POST', `/${id}/nonces`, json({}))).status, 403);
  await give(id, 'gwen', 'NONE');
  assert.equal(await open('GET'), 404);
  await give(id, 'gwen', 'UPDATE');
  assert.equal(await open('GET'), 200);
  const change = (fields: unknown) =>
    fetch(`${scene.service.url}/profiles/v2/gwen`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${scene.admin.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(fields),
    });
  assert.equal((await change({ grants: [] })).status, 200);
  assert.equal(await open('GET'), 403);
  assert.equal((await change({ grants: ['reactors'], status: 'disabled' })).status, 200);
  assert.equal(await open('GET'), 401);
  assert.equal((await change({ status: 'active' })).status, 200);
  assert.equal(await open('GET'), 401);
  const { id: another } = await make(id);
  assert.equal((await ada.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await anonymous('GET', `/${id}`, another)).status, 401);
});

test('The nonce of an alias works under the alias alone, and follows it', async () => {
  const id = await ada.registerOnly({ image });
  const other = await ada.registerOnly({ image });
  await ada.call('POST', '/aliases', json({ alias: 'front', actor_id: id }));
  await ada.call('POST', '/aliases', json({ alias: 'back', actor_id: id }));
  const refused = await ada.call('POST', '/aliases/front/nonces', json({ level: 'UPDATE' }));
  assert.equal(refused.status, 400);
  assert.match(refused.json().message, /^level: takes READ or EXECUTE/);
  const nonce = await make('aliases/front');
  assert.equal(nonce.alias, 'front');
  assert.equal(nonce.actorId, undefined);
  assert.match(nonce._links.self, /\/aliases\/front\/nonces\//);
  assert.equal((await anonymous('GET', '/front', nonce.id)).json().result.id, id);
  for (const name of [id, 'back', other])
    assert.equal((await anonymous('GET', `/${name}`, nonce.id)).status, 404, name);
  // Those of the reactor work under each of its names.
  const ofReactor = await make(id);
  for (const name of [id, 'front', 'back'])
    assert.equal((await anonymous('GET', `/${name}`, ofReactor.id)).status, 200, name);
  await ada.call('PUT', '/aliases/front', json({ actor_id: other }));
  assert.equal((await anonymous('GET', '/front', nonce.id)).json().result.id, other);
  assert.equal((await anonymous('GET', '/front', ofReactor.id)).status, 404);
  assert.deepEqual((await ada.call('GET', `/${other}/nonces`)).json().result, []);
  assert.equal((await ada.call('GET', '/aliases/front/nonces')).json().result.length, 1);
  assert.equal((await ada.call('GET', `/${id}/nonces/${nonce.id}`)).status, 404);
  assert.equal((await bob.call('POST', '/aliases/front/nonces', json({}))).status, 404);
  await ada.call('POST', '/aliases/front/permissions', json({ user: 'bob', level: 'UPDATE' }));
  assert.equal((await bob.call('POST', '/aliases/front/nonces', json({}))).status, 404);
  await ada.call('DELETE', '/aliases/front');
  assert.equal((await anonymous('GET', '/front', nonce.id)).status, 401);
});

test('What cannot be a nonce is refused in words', async () => {
  const id = await ada.registerOnly({ image });
  for (const [fields, words] of [
    [{ max_uses: 0 }, /^max_uses: takes a whole number from 1 up, or -1/],
    [{ max_uses: -2 }, /^max_uses: takes/],
    [{ max_uses: 1.5 }, /^max_uses: takes/],
    [{ maxUses: 'many' }, /^max_uses: takes/],
    [{ level: 'NONE' }, /^level: takes one of READ, EXECUTE, UPDATE/],
    [{ level: 7 }, /^level: /],
    [{ description: 'x'.repeat(1025) }, /^description: takes/],
    [{ uses: 1 }, /uses is not a field/],
  ] as const) {
    const reply = await ada.call('POST', `/${id}/nonces`, json(fields));
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.json().message, words);
  }
  // Nothing at all is a nonce without a limit.
  const plain = await ada.call('POST', `/${id}/nonces`);
  assert.equal(plain.status, 201, plain.text);
  assert.deepEqual(
    [plain.json().result.maxUses, plain.json().result.remainingUses, plain.json().result.level],
    [-1, -1, 'EXECUTE'],
  );
});

test('What was used before a kill is used after it', async () => {
  const id = await ada.registerOnly({ image });
  const nonce = await make(id, { max_uses: 2 });
  assert.equal((await anonymous('GET', `/${id}`, nonce.id)).status, 200);
  await scene.restart('SIGKILL');
  assert.equal((await anonymous('GET', `/${id}`, nonce.id)).status, 200);
  assert.equal((await anonymous('GET', `/${id}`, nonce.id)).status, 401);
  const shown = (await ada.call('GET', `/${id}/nonces`)).json().result;
  assert.equal(shown[0].id, nonce.id);
});
