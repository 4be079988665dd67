import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Api, catalogue } from '../../src/oauth/apis.ts';
import { clientFlows } from '../../src/oauth/client.ts';
import { Clients } from '../../src/oauth/clients.ts';
import { ClientsArea, type Reply } from '../harness/clients-area.ts';
import { openOwnStore } from '../harness/own-store.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const namesIn = (reply: Reply): string[] => reply.json().map(({ name }: { name: string }) => name);

describe('the subscriptions of a client', () => {
  let service: RunningService;
  let area: ClientsArea;
  before(async () => {
    service = await startService();
    area = new ClientsArea(service);
    await area.create('app', { tier: 'Gold' });
  });
  after(() => service.dispose());

  const clear = () => area.call('DELETE', '/app/subscriptions?name=*');

  test('are all APIs for a new client, each in full under both names', async () => {
    const reply = await area.call('GET', '/app/subscriptions/');
    assert.equal(reply.status, 200);
    assert.deepEqual(namesIn(reply), ['Clients', 'Profiles', 'Actors']);
    assert.deepEqual(reply.json()[2], {
      name: 'Actors',
      apiName: 'Actors',
      context: '/actors',
      apiContext: '/actors',
      provider: 'admin',
      apiProvider: 'admin',
      status: 'PUBLISHED',
      apiStatus: 'PUBLISHED',
      version: 'v2',
      apiVersion: 'v2',
      tier: 'Gold',
      _links: {
        api: { href: `${service.url}/actors/v2` },
        client: { href: `${service.url}/clients/v2/app` },
        self: { href: `${service.url}/clients/v2/app/subscriptions` },
      },
    });
  });

  test('are added by one name, in any case and both spellings, and answered in full', async () => {
    await clear();
    const sent = [
      [{ form: { name: 'Profiles' } }, ['Profiles']],
      [{ form: { apiName: 'actors' } }, ['Profiles', 'Actors']],
      [{ json: { api_name: 'CLIENTS' } }, ['Clients', 'Profiles', 'Actors']],
      [{ json: { name: 'Profiles' } }, ['Clients', 'Profiles', 'Actors']],
    ] as const;
    for (const [what, names] of sent) {
      const reply = await area.call('POST', '/app/subscriptions', what);
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(namesIn(reply), names);
    }
    const [posted, listed] = await Promise.all([
      area.call('POST', '/app/subscriptions/', { form: { name: 'Actors' } }),
      area.call('GET', '/app/subscriptions'),
    ]);
    assert.deepEqual(posted.json(), listed.json());
  });

  test('are all added with *, and several with a list', async () => {
    await clear();
    const two = await area.call('POST', '/app/subscriptions', {
      form: { name: ['actors', 'profiles', 'Actors'] },
    });
    assert.deepEqual(namesIn(two), ['Profiles', 'Actors']);
    const all = await area.call('POST', '/app/subscriptions?naked=false', { form: { name: '*' } });
    assert.equal(
      all.json().message,
      'Client app has been subscribed to Clients, Profiles, Actors.',
    );
    assert.equal(all.json().result.length, 3);
  });

  test('end by one name in the query or the body, or all with *', async () => {
    await area.call('POST', '/app/subscriptions', { form: { name: '*' } });
    const query = await area.call('DELETE', '/app/subscriptions?apiName=actors');
    assert.deepEqual(namesIn(query), ['Clients', 'Profiles']);
    const body = await area.call('DELETE', '/app/subscriptions', { form: { name: 'Clients' } });
    assert.deepEqual(namesIn(body), ['Profiles']);
    const json = await area.call('DELETE', '/app/subscriptions', {
      json: { api_name: 'Profiles' },
    });
    assert.deepEqual(namesIn(json), []);
    assert.deepEqual(namesIn(await area.call('DELETE', '/app/subscriptions?name=Actors')), []);
    assert.deepEqual(namesIn(await clear()), []);
    const wrapped = await area.call('DELETE', '/app/subscriptions?naked=false&name=actors');
    assert.equal(wrapped.json().message, 'Client app has been unsubscribed from Actors.');
    assert.deepEqual(wrapped.json().result, []);
    assert.deepEqual(namesIn(await area.call('GET', '/app/subscriptions')), []);
  });

  test('refuse an API that does not exist, with the names of those that do', async () => {
    await clear();
    const calls = [
      area.call('POST', '/app/subscriptions', { form: { name: 'Jobs' } }),
      area.call('POST', '/app/subscriptions', { json: { name: ['Actors', 'Jobs'] } }),
      area.call('DELETE', '/app/subscriptions?name=Jobs'),
    ];
    for (const reply of await Promise.all(calls)) {
      assert.equal(reply.status, 404);
      assert.equal(
        reply.json().message,
        'There is no API called Jobs. The APIs are Clients, Profiles, Actors; * means all of them.',
      );
    }
    assert.deepEqual(namesIn(await area.call('GET', '/app/subscriptions')), []);
  });

  test('refuse a request without a name, or with one that is not text', async () => {
    for (const sent of [{}, { form: {} }, { form: { name: '' } }, { json: {} }, { json: null }]) {
      const reply = await area.call('POST', '/app/subscriptions', sent);
      assert.equal(reply.status, 400, reply.text);
      assert.equal(reply.json().message, 'name: is required');
    }
    assert.equal((await area.call('DELETE', '/app/subscriptions')).status, 400);
    for (const name of [7, {}, [null], 'x'.repeat(65), '__proto__', 'a\0b', '\ud800']) {
      const reply = await area.call('POST', '/app/subscriptions', { json: { name } });
      assert.ok(reply.status === 400 || reply.status === 404, JSON.stringify(name));
    }
  });

  test('believe what existing clients say about an API only when it is so', async () => {
    const right = { apiName: 'Actors', apiVersion: 'v2', apiProvider: 'admin', tier: 'GOLD' };
    assert.equal((await area.call('POST', '/app/subscriptions', { form: right })).status, 200);
    for (const [field, value] of [
      ['apiVersion', 'v3'],
      ['apiProvider', 'mallory'],
      ['tier', 'Unlimited'],
      ['tier', 'Platinum'],
    ] as const) {
      const reply = await area.call('POST', '/app/subscriptions', {
        form: { ...right, [field]: value },
      });
      assert.equal(reply.status, 400, field);
      assert.ok(reply.json().message.startsWith(`${field}: `));
    }
  });

  test('are 404 for an unknown client', async () => {
    assert.equal((await area.call('GET', '/nobody/subscriptions')).status, 404);
  });
});

test('an API that the service gains later is subscribed to by new clients and not by old ones', async (t) => {
  const { store, changes, user, close } = await openOwnStore();
  t.after(close);
  const fields = {
    description: '',
    callbackUrls: [],
    tier: 'Unlimited',
    flows: new Set(clientFlows),
    requirePkce: false,
  } as const;
  const before = new Clients({ store, changes, perUser: 10 });
  const { client: old } = await before.create(user, 'old', fields);

  const files: Api = {
    name: 'Files',
    context: '/files',
    version: 'v2',
    provider: 'admin',
    status: 'PUBLISHED',
  };
  const later = new Clients({ store, changes, perUser: 10, apis: [...catalogue, files] });
  const { client: young } = await later.create(user, 'young', fields);

  assert.equal((await later.subscriptionsOf(old.id)).has('Files'), false);
  assert.equal((await later.subscriptionsOf(young.id)).has('Files'), true);
  await later.subscribe(old, [files]);
  assert.equal((await later.subscriptionsOf(old.id)).has('Files'), true);
});
