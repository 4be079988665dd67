import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AccessChange } from '../../src/identity/access-changes.ts';
import { clientFlows } from '../../src/oauth/client.ts';
import { Clients } from '../../src/oauth/clients.ts';
import { besideService } from '../harness/beside-service.ts';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { logged } from '../harness/logged.ts';
import { openOwnStore } from '../harness/own-store.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

const fields = {
  description: '',
  callbackUrls: [],
  tier: 'Unlimited',
  flows: new Set(clientFlows),
  requirePkce: false,
} as const;

describe('replacing the secret of a client', () => {
  let service: RunningService;
  let area: ClientsArea;
  before(async () => {
    service = await startService();
    area = new ClientsArea(service);
  });
  after(() => service.dispose());

  /** Whether the key and secret are those of a client, as the token endpoint finds out. */
  const works = (key: string, secret: string) =>
    besideService(service, async (store, changes) => {
      const clients = new Clients({ store, changes, perUser: 1 });
      return (await clients.authenticate(key, secret)) !== undefined;
    });

  test('shows a new one once, and the one before works for a day unless said otherwise', async () => {
    const old = await area.create('rotating');
    const reply = await area.call('POST', '/rotating/secret');
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers.get('cache-control'), 'no-store');
    const renewed = reply.json();
    assert.equal(renewed.key, old.key);
    assert.notEqual(renewed.secret, old.secret);
    assert.equal(renewed.consumerSecret, renewed.secret);
    const day = Date.parse(renewed.previousSecretExpires) - Date.parse(renewed.lastUpdateTime);
    assert.equal(day, 86_400_000);
    assert.equal(await works(old.key, old.secret), true);
    assert.equal(await works(old.key, renewed.secret), true);
    assert.doesNotMatch((await area.call('GET', '/rotating')).text, /secret/i);
  });

  test('ends the one before at once with overlap=0, in form and JSON', async () => {
    const old = await area.create('leaked');
    const form = (await area.call('POST', '/leaked/secret/', { form: { overlap: '0' } })).json();
    assert.equal(form.previousSecretExpires, null);
    assert.equal(await works(old.key, old.secret), false);
    assert.equal(await works(old.key, form.secret), true);
    const json = (await area.call('POST', '/leaked/secret', { json: { overlap: 0 } })).json();
    assert.equal(await works(old.key, form.secret), false);
    assert.equal(await works(old.key, json.secret), true);
  });

  test('lets the one before work until the overlap is over', async () => {
    const old = await area.create('overlapping');
    const renewed = (
      await area.call('POST', '/overlapping/secret?naked=false', { json: { overlap: 1 } })
    ).json();
    assert.equal(renewed.message, 'Client secret replaced successfully.');
    await until('the old secret to end', async () => !(await works(old.key, old.secret)));
    assert.ok(Date.now() >= Date.parse(renewed.result.previousSecretExpires));
    assert.equal(await works(old.key, renewed.result.secret), true);
  });

  test('refuses an overlap that is no number of seconds up to thirty days', async () => {
    await area.create('strict');
    for (const overlap of ['-1', '1.5', 'soon', '2592001', '1e3', '']) {
      const reply = await area.call('POST', '/strict/secret', { form: { overlap } });
      assert.equal(reply.status, 400, overlap);
      assert.match(reply.json().message, /^overlap: takes a whole number of seconds from 0 to/);
    }
    assert.equal((await area.call('POST', '/nobody/secret')).status, 404);
    assert.equal((await area.call('POST', '/strict/secret', { form: { over: '0' } })).status, 400);
  });

  test('never writes a secret to the log or to the store', async () => {
    const made = await area.create('quiet');
    const renewed = (await area.call('POST', '/quiet/secret')).json();
    const rows = await besideService(service, (store) =>
      store.read.selectFrom('clients').selectAll().execute(),
    );
    await logged(service, /"msg":"client secret replaced"/);
    const kept = JSON.stringify(rows) + service.output() + service.errors();
    for (const secret of [made.secret, renewed.secret]) assert.ok(!kept.includes(secret));
  });
});

describe('a client proves itself', () => {
  test('with its secret, with the one before while the clock is within the overlap, and with nothing else', async (t) => {
    const { store, changes, user, close } = await openOwnStore();
    t.after(close);
    let now = 1_000_000;
    const clients = new Clients({ store, changes, perUser: 10, now: () => now });
    const { client, secret } = await clients.create(user, 'app', fields);
    const who = async (given: string) => (await clients.authenticate(client.key, given))?.name;
    assert.equal(await who(secret), 'app');
    const second = await clients.rotateSecret(client, 60);
    assert.equal(second.previousUntil, 1_060_000);
    now = 1_059_999;
    assert.equal(await who(secret), 'app');
    now = 1_060_000;
    assert.equal(await who(secret), undefined);
    assert.equal(await who(second.secret), 'app');
    const third = await clients.rotateSecret(client, 60);
    assert.equal(await who(secret), undefined);
    assert.equal(await who(second.secret), 'app');
    assert.equal(await who(third.secret), 'app');
    for (const wrong of ['', 'x', `${third.secret}x`, third.secret.toLowerCase(), 'a\0b', '\ud800'])
      assert.equal(await who(wrong), undefined);
    for (const key of ['', 'x', client.name, `${client.key} `, 'a\0b', '\ud800', 'x'.repeat(28)])
      assert.equal(await clients.authenticate(key, third.secret), undefined);
  });

  test('and every change of it is announced, so that nobody goes on with what they remember', async (t) => {
    const { store, changes, user, close } = await openOwnStore();
    t.after(close);
    const clients = new Clients({ store, changes, perUser: 10 });
    const { client } = await clients.create(user, 'app', fields);
    const told: AccessChange[] = [];
    changes.onChange((change) => told.push(change));
    const { apis } = clients;
    const work = [
      () => clients.update(client, { description: 'new' }),
      () => clients.rotateSecret(client, 0),
      () => clients.subscribe(client, apis),
      () => clients.unsubscribe(client, apis),
      () => clients.remove(client),
    ];
    for (const step of work) {
      told.length = 0;
      await step();
      assert.deepEqual(told, [{ kind: 'client', subject: client.id }]);
    }
    told.length = 0;
    // Ending a subscription that is gone with its client is no error; everything else needs the client.
    for (const step of work.filter((_, place) => place !== 3))
      await assert.rejects(step, /There is no client called app/);
    assert.deepEqual(told, []);
  });
});

describe('the token endpoint', () => {
  let service: RunningService;
  let area: ClientsArea;
  before(async () => {
    service = await startService();
    area = new ClientsArea(service);
  });
  after(() => service.dispose());

  const tokenOf = async (key: string, secret: string) => {
    const reply = await fetch(`${service.url}/token`, {
      method: 'POST',
      headers: { authorization: basic(key, secret) },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };

  test('takes the old and the new secret during the overlap, and only the new one after it', async () => {
    const { key, secret: old } = await area.create('rolling');
    assert.equal((await tokenOf(key, old)).status, 200);
    const { secret: renewed } = (
      await area.call('POST', '/rolling/secret', { form: { overlap: '600' } })
    ).json();
    assert.equal((await tokenOf(key, old)).status, 200);
    assert.equal((await tokenOf(key, renewed)).status, 200);
    const { secret: last } = (
      await area.call('POST', '/rolling/secret', { form: { overlap: '0' } })
    ).json();
    for (const ended of [old, renewed]) {
      const { status, body } = await tokenOf(key, ended);
      assert.equal(status, 401);
      assert.equal(body.error, 'invalid_client');
    }
    assert.equal((await tokenOf(key, last)).status, 200);
  });

  test('knows a deleted client no more, and the tokens that it gave it are over', async () => {
    const { key, secret } = await area.create('gone');
    const { access_token: token } = (await tokenOf(key, secret)).body;
    const bearer = new ClientsArea(service, `Bearer ${token}`);
    assert.equal((await bearer.call('GET', '')).status, 200);
    assert.equal((await area.call('DELETE', '/gone')).text, 'null');
    assert.equal((await tokenOf(key, secret)).body.error, 'invalid_client');
    assert.equal((await bearer.call('GET', '')).status, 401);
  });
});
