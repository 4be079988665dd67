import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { once } from '../../src/store/statement.ts';
import { addUser, besideService } from '../harness/beside-service.ts';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('a client of one’s own', () => {
  let service: RunningService;
  let area: ClientsArea;
  let stranger: ClientsArea;
  before(async () => {
    service = await startService();
    area = new ClientsArea(service);
    await addUser(service, { username: 'mallory', password: 'a long enough word' });
    stranger = new ClientsArea(service, basic('mallory', 'a long enough word'));
  });
  after(() => service.dispose());

  test('is shown and listed without its secret, under the same names', async () => {
    const { secret, consumerSecret, ...record } = await area.create('shown', { tier: 'gold' });
    assert.equal(secret, consumerSecret);
    const shown = await area.call('GET', '/shown/');
    assert.deepEqual(shown.json(), record);
    const list = await area.call('GET', '/');
    assert.deepEqual(list.json(), [record]);
    assert.doesNotMatch(shown.text + list.text, /secret|rct_cs/i);
    const wrapped = (await area.call('GET', '?naked=false&pretty=true')).json();
    assert.equal(wrapped.message, 'Clients retrieved successfully.');
    assert.deepEqual(wrapped.result, [record]);
    await area.call('DELETE', '/shown');
  });

  test('stands in a list that is ordered by name and comes in pages', async () => {
    for (const name of ['c', 'a', 'e', 'b', 'd']) await area.create(`page-${name}`);
    const names = async (query: string) =>
      (await area.call('GET', query)).json().map(({ name }: { name: string }) => name);
    assert.deepEqual(await names('?limit=2'), ['page-a', 'page-b']);
    assert.deepEqual(await names('?limit=2&offset=2'), ['page-c', 'page-d']);
    assert.deepEqual(await names('?offset=4'), ['page-e']);
    assert.deepEqual(await names('?offset=99'), []);
    assert.deepEqual(await names('?after=page-b&limit=2'), ['page-c', 'page-d']);
    assert.equal((await area.call('GET', '?after=%00')).status, 400);
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=1.5', 'offset=-1', 'limit=']) {
      const reply = await area.call('GET', `?${query}`);
      assert.equal(reply.status, 400, query);
      assert.match(reply.json().message, /^(limit|offset): takes a whole number/);
    }
  });

  test('is nobody else’s business: 404 for every operation, as if it were not there', async () => {
    await area.create('private');
    const calls = [
      ['GET', '/private'],
      ['PUT', '/private'],
      ['DELETE', '/private'],
      ['POST', '/private/secret'],
      ['GET', '/private/subscriptions'],
      ['POST', '/private/subscriptions'],
      ['DELETE', '/private/subscriptions?name=*'],
    ] as const;
    for (const [method, path] of calls) {
      const sent = method === 'POST' && path.endsWith('ions') ? { form: { name: '*' } } : {};
      const reply = await stranger.call(method, path, sent);
      assert.equal(reply.status, 404, `${method} ${path}`);
      assert.equal(reply.json().message, 'There is no client called private.');
    }
    assert.deepEqual((await stranger.call('GET', '')).json(), []);
    await stranger.create('private', { description: 'mine' });
    assert.equal((await area.call('GET', '/private')).json().description, '');
    assert.equal((await stranger.call('DELETE', '/private')).status, 200);
    assert.equal((await area.call('GET', '/private')).status, 200);
  });

  test('is 404 under names that no client can have', async () => {
    for (const name of ['nope', '%00', 'a%2Fb', '%ED%A0%80', 'x'.repeat(200), '%20', "';--"]) {
      const reply = await area.call('GET', `/${name}`);
      assert.ok(reply.status === 404 || reply.status === 400, `${name}: ${reply.status}`);
    }
  });

  test('can be changed field by field; what is not sent stays', async () => {
    const made = await area.create('changing', {
      description: 'before',
      callbackUrl: 'https://a.example.org/cb',
      tier: 'Silver',
    });
    const first = await area.call('PUT', '/changing', { form: { description: 'after' } });
    assert.equal(first.status, 200);
    assert.equal(first.json().description, 'after');
    assert.equal(first.json().callbackUrl, 'https://a.example.org/cb');
    assert.equal(first.json().tier, 'Silver');
    assert.equal(first.json().key, made.key);
    const second = await area.call('PUT', '/changing?naked=false', {
      json: { tier: 'BRONZE', require_pkce: 'TRUE', flows: ['password'] },
    });
    const { result, message } = second.json();
    assert.equal(message, 'Client updated successfully.');
    assert.equal(result.tier, 'Bronze');
    assert.equal(result.requirePkce, true);
    assert.deepEqual(result.flows, ['password']);
    assert.deepEqual((await area.call('GET', '/changing')).json(), result);
    const renamed = await area.call('PUT', '/changing', { form: { clientName: 'other' } });
    assert.equal(renamed.status, 400);
    assert.equal((await area.call('PUT', '/nobody', { form: { tier: 'Gold' } })).status, 404);
  });

  test('asks people again for their consent when its callback addresses change', async () => {
    await area.create('consented', { callbackUrl: 'https://a.example.org/cb' });
    const consents = () =>
      besideService(service, (store) => store.read.selectFrom('consents').selectAll().execute());
    await besideService(service, async (store) => {
      const client = await store.read
        .selectFrom('clients')
        .select(['id', 'owner_id'])
        .where('name', '=', 'consented')
        .executeTakeFirstOrThrow();
      await store.write(
        once((db) =>
          db.insertInto('consents').values({
            user_id: client.owner_id,
            client_id: client.id,
            scope: 'PRODUCTION',
            redirect_uri: 'https://a.example.org/cb',
            created_at: 1,
            last_used_at: 1,
          }),
        ),
      );
    });
    await area.call('PUT', '/consented', { json: { callbackUrl: 'https://a.example.org/cb' } });
    assert.equal((await consents()).length, 1);
    await area.call('PUT', '/consented', { json: { callbackUrl: 'https://b.example.org/cb' } });
    assert.equal((await consents()).length, 0);
  });

  test('is deleted with a null result, and is unknown from then on', async () => {
    await area.create('doomed');
    const bare = await area.call('DELETE', '/doomed/');
    assert.equal(bare.status, 200);
    assert.equal(bare.text, 'null');
    assert.match(bare.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal((await area.call('GET', '/doomed')).status, 404);
    const again = await area.call('DELETE', '/doomed');
    assert.equal(again.status, 404);
    assert.equal(again.json().message, 'There is no client called doomed.');
    const { key } = await area.create('doomed');
    const wrapped = (await area.call('DELETE', '/doomed?naked=false')).json();
    assert.equal(wrapped.status, 'success');
    assert.equal(wrapped.message, 'Client removed successfully.');
    assert.equal(wrapped.result, null);
    assert.notEqual((await area.create('doomed')).key, key);
  });

  test('deleted ten times at once is deleted once', async () => {
    await area.create('contested');
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => area.call('DELETE', '/contested')),
    );
    const statuses = replies.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 404)]);
  });

  test('has its operations in the API description', async () => {
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    const operations = (path: string) => Object.keys(document.paths[path] ?? {}).sort();
    assert.deepEqual(operations('/clients/v2'), ['get', 'post']);
    assert.deepEqual(operations('/clients/v2/{clientName}'), ['delete', 'get', 'put']);
    assert.deepEqual(operations('/clients/v2/{clientName}/secret'), ['post']);
    assert.deepEqual(operations('/clients/v2/{clientName}/subscriptions'), [
      'delete',
      'get',
      'post',
    ]);
    for (const name of ['Client', 'ClientWithSecret', 'NewClient', 'Subscription'])
      assert.ok(document.components.schemas[name], name);
  });
});
