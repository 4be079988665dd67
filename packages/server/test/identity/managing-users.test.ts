import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hashSecret, newSecret } from '../../src/oauth/secret-format.ts';
import { once } from '../../src/store/statement.ts';
import { besideService } from '../harness/beside-service.ts';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { ProfilesArea, password } from '../harness/profiles-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { TokenArea } from '../harness/token-area.ts';

describe('an admin', () => {
  let service: RunningService;
  let admin: ProfilesArea;
  let ada: ProfilesArea;
  before(async () => {
    service = await startService();
    admin = await ProfilesArea.logIn(service);
    await admin.make('ada', { email: 'ada@example.org', firstName: 'Ada', last_name: 'Lovelace' });
    ada = await ProfilesArea.logIn(service, 'ada', password);
  });
  after(() => service.dispose());

  test('makes users with 201, and numbers them in order', async () => {
    const reply = await admin.call('POST', '', {
      username: 'grace.Hopper_1-a',
      password,
      grants: ['reactors'],
      roles: ['admin'],
      city: 'Arlington',
    });
    assert.equal(reply.status, 201, reply.text);
    const record = reply.json();
    assert.equal(reply.headers.get('location'), record._links.self.href);
    assert.deepEqual([record.grants, record.roles], [['reactors'], ['admin']]);
    assert.equal(record.city, 'Arlington');
    const next = await admin.call('POST', '', new URLSearchParams({ username: 'linus', password }));
    assert.equal(next.json().uid, record.uid + 1);
    assert.deepEqual([next.json().grants, next.json().status], [[], 'Active']);
  });

  test('cannot give a name twice, be it in another case', async () => {
    for (const username of ['ada', 'ADA', 'Ada']) {
      const reply = await admin.call('POST', '', { username, password });
      assert.equal(reply.status, 409);
      assert.match(reply.json().message, /a user called ada already/);
    }
  });

  test('makes one user when one name is asked for many times at once', async () => {
    const names = Array.from({ length: 12 }, (_, place) => (place % 2 ? 'twin' : 'TWIN'));
    const replies = await Promise.all(
      names.map((username) => admin.call('POST', '', { username, password })),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 11 }, () => 409)]);
  });

  test('is refused names and passwords that are none', async () => {
    const names = [
      '',
      'me',
      'ME',
      'a b',
      'a/b',
      'a@b',
      'ä',
      'a\u0000',
      '😀',
      'x'.repeat(65),
      ' ada',
    ];
    for (const username of names) {
      const reply = await admin.call('POST', '', { username, password });
      assert.equal(reply.status, 400, JSON.stringify(username));
      assert.match(reply.json().message, /^username: takes 1 to 64/);
    }
    for (const wrong of [
      '',
      'short12',
      '💥💥💥💥',
      'x'.repeat(1025),
      'ä'.repeat(513),
      `a\0${password}`,
    ]) {
      const reply = await admin.call('POST', '', { username: 'fine', password: wrong });
      assert.equal(reply.status, 400, JSON.stringify(wrong));
      assert.match(reply.json().message, /^password: takes at least 8 characters/);
    }
    assert.match(
      (await admin.call('POST', '', { username: 'x' })).json().message,
      /^password: is req/,
    );
    const odd = [
      { username: 5, password },
      { username: ['a'], password },
      { username: {}, password },
    ];
    for (const body of odd) assert.equal((await admin.call('POST', '', body)).status, 400);
    assert.equal((await admin.call('GET', '/fine')).status, 404);
  });

  test('lists and finds users; others may not', async () => {
    const all = (await admin.call('GET', '')).json();
    const uids = all.map((user: { uid: number }) => user.uid);
    assert.deepEqual(
      uids,
      [...uids].sort((a, b) => a - b),
    );
    const found = async (query: string) =>
      (await admin.call('GET', `?${query}`))
        .json()
        .map((user: { username: string }) => user.username);
    assert.deepEqual(await found('name=LOVE'), ['ada']);
    assert.deepEqual(await found('name=ada%20l'), ['ada']);
    assert.deepEqual(await found('full_name=ada+lovelace'), ['ada']);
    assert.deepEqual(await found('firstName=ad&last_name=love'), ['ada']);
    assert.deepEqual(await found('email=EXAMPLE.org&username=a&status=Active'), ['ada']);
    assert.deepEqual(await found('status=Inactive'), []);
    assert.deepEqual(await found('name=%25'), []);
    assert.deepEqual(await found('name=_da'), []);
    assert.deepEqual(await found('limit=1&offset=1'), ['ada']);
    assert.deepEqual(await found('limit=1&after=1001'), ['ada']);
    const compact = (await admin.call('GET', '?pretty&naked&limit=1')).json();
    assert.equal(Object.keys(compact[0]).length, 10);
    for (const query of [
      'limit=0',
      'limit=1001',
      'offset=-1',
      'limit=x',
      'status=odd',
      'name=a&name=b',
    ]) {
      assert.equal((await admin.call('GET', `?${query}`)).status, 400, query);
    }
    assert.equal((await ada.call('GET', '')).status, 403);
    assert.equal((await ada.call('POST', '', { username: 'eve', password })).status, 403);
    assert.equal((await ada.call('DELETE', '/ada')).status, 403);
  });

  test('changes rights, which hold at once', async () => {
    await admin.make('rex');
    const rex = await ProfilesArea.logIn(service, 'rex', password);
    assert.equal((await rex.call('GET', '')).status, 403);
    assert.equal((await admin.call('PUT', '/rex', { roles: ['admin'] })).status, 200);
    assert.equal((await rex.call('GET', '')).status, 200);
    const cleared = await admin.call('PUT', '/rex', new URLSearchParams({ roles: '' }));
    assert.deepEqual(cleared.json().roles, []);
    assert.equal((await rex.call('GET', '')).status, 403);
  });

  test('removes users for good; a name can be given again, a number cannot', async () => {
    const { uid } = await admin.make('brief');
    const brief = await ProfilesArea.logIn(service, 'brief', password);
    const removed = await admin.call('DELETE', '/brief');
    assert.deepEqual([removed.status, removed.text], [200, 'null']);
    assert.equal((await brief.call('GET', '/me')).status, 401);
    assert.equal((await admin.call('DELETE', '/brief')).status, 404);
    assert.equal((await admin.call('PUT', '/brief', {})).status, 404);
    const again = await admin.make('brief');
    assert.ok(again.uid > uid);
    assert.equal((await brief.call('GET', '/me')).status, 401);
  });

  test('cannot be acted for by a container that it set off, beyond reading', async () => {
    const { client } = await TokenArea.open(service);
    const token = newSecret('accessToken');
    const issued_at = Date.now();
    await besideService(service, async (store) => {
      const { id: client_id, owner_id: user_id } = await store.read
        .selectFrom('clients')
        .select(['id', 'owner_id'])
        .where('key', '=', client.key)
        .executeTakeFirstOrThrow();
      const order = { client_id, user_id, flow: 'execution', scope: 'PRODUCTION', issued_at };
      const hash = hashSecret(token);
      const insert = once((db) =>
        db.insertInto('access_tokens').values({ ...order, hash, expires_at: issued_at + 60_000 }),
      );
      await store.write(insert);
    });
    const container = new ProfilesArea(service, token);
    assert.equal((await container.call('GET', '/me')).json().username, 'admin');
    assert.equal((await container.call('GET', '')).status, 403);
    assert.equal((await container.call('POST', '', { username: 'eve', password })).status, 403);
    assert.equal((await container.call('PUT', '/me', { city: 'X' })).status, 403);
    assert.equal((await container.call('PUT', '/ada', { roles: ['admin'] })).status, 403);
    assert.equal((await container.call('DELETE', '/ada')).status, 403);
  });

  test('sets anyone a password, and its own only with the current one', async () => {
    await admin.make('carl');
    assert.equal((await admin.call('PUT', '/carl', { password: 'another long one' })).status, 200);
    const clients = new ClientsArea(service, basic('carl', password));
    assert.equal((await clients.call('GET', '')).status, 401);
    await ProfilesArea.logIn(service, 'carl', 'another long one');
    const missing = await admin.call('PUT', '/me', { password: 'yet another one' });
    assert.equal(missing.status, 400);
    assert.match(missing.json().message, /^current_password: /);
    assert.equal((await new ClientsArea(service).call('GET', '')).status, 200);
  });
});

describe('the last active admin', () => {
  let service: RunningService;
  let admin: ProfilesArea;
  before(async () => {
    service = await startService();
    admin = await ProfilesArea.logIn(service);
  });
  after(() => service.dispose());

  test('cannot be removed, disabled or stripped of the role', async () => {
    await admin.make('second', { roles: ['admin'] });
    await admin.call('PUT', '/second', { status: 'Inactive' });
    const refused = [
      await admin.call('DELETE', '/admin'),
      await admin.call('PUT', '/me', { status: 'Inactive' }),
      await admin.call('PUT', '/me', { roles: [] }),
    ];
    for (const { status, json } of refused) {
      assert.equal(status, 409);
      assert.match(json().message, /admin is the last active admin/);
    }
    assert.deepEqual((await admin.call('GET', '/me')).json().roles, ['admin']);
  });

  test('stays, when two admins remove each other at once', async () => {
    await admin.make('third', { roles: ['admin'] });
    const third = await ProfilesArea.logIn(service, 'third', password);
    const replies = await Promise.all([
      admin.call('PUT', '/third', { roles: [] }),
      third.call('PUT', '/admin', { status: 'Inactive' }),
    ]);
    const statuses = replies.map((reply) => reply.status).sort();
    assert.equal(statuses[0], 200);
    assert.ok([401, 403, 409].includes(statuses[1] ?? 0), String(statuses));
  });
});
