import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Clients } from '../../src/oauth/clients.ts';
import { Tokens } from '../../src/oauth/tokens.ts';
import { once } from '../../src/store/statement.ts';
import { addUser, besideService } from '../harness/beside-service.ts';
import { basic, ClientsArea, type Reply } from '../harness/clients-area.ts';
import { adminPassword, type RunningService, startService } from '../harness/running-service.ts';

const lifetimes = {
  code_token_lifetime: 14_400,
  implicit_token_lifetime: 3600,
  password_token_lifetime: 14_400,
  client_token_lifetime: 14_400,
  refresh_lifetime: 0,
  refresh_idle_limit: 0,
};

describe('the clients area', () => {
  let service: RunningService;
  let area: ClientsArea;
  before(async () => {
    service = await startService({ environment: { REACTORD_TIER_BRONZE: '3' } });
    area = new ClientsArea(service);
  });
  after(() => service.dispose());

  const tokenFor = (key: string) =>
    besideService(service, async (store, changes) => {
      const client = await new Clients({ store, changes, perUser: 1 }).byKey(key);
      assert.ok(client);
      const { accessToken } = await new Tokens(store, changes, lifetimes).issue({
        client,
        userId: client.ownerId,
        flow: 'password',
        scope: 'PRODUCTION',
        refresh: false,
      });
      return accessToken;
    });

  const withToken = (token: string) => new ClientsArea(service, `Bearer ${token}`);

  const refused = (reply: Reply, code: number, message: string) => {
    assert.equal(reply.status, 401);
    const body = reply.json();
    assert.equal(body.status, 'error');
    assert.equal(body.result, null);
    assert.equal(body.fault.code, code);
    assert.equal(body.fault.message, message);
    assert.equal(body.fault.description, body.message);
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Basic realm="reactord"/);
  };

  test('asks whoever sends no credentials for them', async () => {
    const nobody = new ClientsArea(service, '');
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/x'],
      ['PUT', '/x'],
      ['DELETE', '/x'],
      ['POST', '/x/secret'],
      ['GET', '/x/subscriptions'],
      ['POST', '/x/subscriptions'],
      ['DELETE', '/x/subscriptions'],
    ] as const)
      refused(await nobody.call(method, path), 900902, 'Missing Credentials');
    const cookie = await nobody.call('GET', '', { headers: { cookie: 'session=x' } });
    refused(cookie, 900902, 'Missing Credentials');
  });

  test('refuses wrong credentials the same way, whatever is wrong with them', async () => {
    const wrong = [
      basic('admin', 'wrong'),
      basic('nobody', adminPassword),
      basic('Admin', adminPassword),
    ];
    const texts = new Set<string>();
    for (const header of wrong) {
      const reply = await new ClientsArea(service, header).call('GET', '');
      refused(reply, 900904, 'Invalid Credentials');
      texts.add(reply.text);
    }
    assert.equal(texts.size, 1);
  });

  test('refuses a Basic header that can be read in more than one way', async () => {
    const right = Buffer.from(`admin:${adminPassword}`).toString('base64');
    const unusual = [
      `Basic ${right.replace(/=+$/, '')}*`,
      `Basic ${right} x`,
      `Basic ${right},`,
      'Basic',
      'Basic =',
      `Basic ${Buffer.from('admin').toString('base64')}`,
      `Basic ${Buffer.from(`:${adminPassword}`).toString('base64')}`,
      `Basic ${Buffer.from(`admin:${adminPassword}\0`).toString('base64')}`,
      `Basic ${Buffer.from(`admin\n:${adminPassword}`).toString('base64')}`,
      `Basic ${Buffer.from([0x61, 0x3a, 0xff, 0xfe]).toString('base64')}`,
    ];
    for (const header of unusual) {
      const { status } = await new ClientsArea(service, header).call('GET', '');
      assert.ok(status === 401 || status === 400, `${header}: ${status}`);
    }
    for (const scheme of ['basic', 'BASIC'])
      assert.equal(
        (await new ClientsArea(service, `${scheme} ${right}`).call('GET', '')).status,
        200,
      );
  });

  test('takes passwords with colons and letters of any language', async () => {
    await addUser(service, { username: 'zoe', password: 'pä:ss:wörd ключ' });
    const zoe = new ClientsArea(service, basic('zoe', 'pä:ss:wörd ключ'));
    assert.equal(
      (await zoe.create('hers'))._links.subscriber.href,
      `${service.url}/profiles/v2/zoe`,
    );
  });

  test('takes a token of the user as well', async () => {
    const { key } = await area.create('bearer');
    const bearer = withToken(await tokenFor(key));
    assert.ok((await bearer.call('GET', '')).json().length > 0);
    assert.equal((await bearer.create('by-token')).name, 'by-token');
    assert.equal((await area.call('GET', '/by-token')).status, 200);
  });

  test('never takes the token of an execution', async () => {
    const { key } = await area.create('for-executions');
    const token = await tokenFor(key);
    await besideService(service, async (store) => {
      const { id } = await store.read
        .selectFrom('clients')
        .select('id')
        .where('key', '=', key)
        .executeTakeFirstOrThrow();
      const toExecution = once((db) =>
        db.updateTable('access_tokens').set({ flow: 'execution' }).where('client_id', '=', id),
      );
      await store.write(toExecution);
    });
    const reply = await withToken(token).call('GET', '');
    assert.equal(reply.status, 403);
    assert.equal((await withToken(token).call('POST', '/x/secret')).status, 403);
  });

  test('ends every token of a client that is deleted, at once', async () => {
    const tokenCount = () =>
      besideService(service, async (store) => {
        const rows = await store.read.selectFrom('access_tokens').select('hash').execute();
        return rows.length;
      });
    const { key } = await area.create('short-lived');
    const before = await tokenCount();
    const [first, second] = [await tokenFor(key), await tokenFor(key)];
    assert.equal((await withToken(first).call('GET', '')).status, 200);
    assert.equal((await area.call('DELETE', '/short-lived')).status, 200);
    for (const token of [first, second]) {
      const reply = await withToken(token).call('GET', '');
      assert.equal(reply.status, 401);
      assert.equal(reply.json().fault.code, 900904);
    }
    assert.equal(await tokenCount(), before);
  });

  test('lets a token in only while its client is subscribed, from one request to the next', async () => {
    const { key } = await area.create('subscribed');
    const bearer = withToken(await tokenFor(key));
    assert.equal((await bearer.call('GET', '')).status, 200);
    await area.call('DELETE', '/subscribed/subscriptions?name=Clients');
    const reply = await bearer.call('GET', '');
    assert.equal(reply.status, 403);
    assert.match(
      reply.json().message,
      /^The client subscribed is not subscribed to the API Clients/,
    );
    await area.call('POST', '/subscribed/subscriptions', { form: { name: 'Clients' } });
    assert.equal((await bearer.call('GET', '')).status, 200);
  });

  test('counts the requests of a client against its tier, and a change of tier at once', async () => {
    const { key } = await area.create('busy', { tier: 'Bronze' });
    const bearer = withToken(await tokenFor(key));
    for (const _ of [1, 2, 3]) assert.equal((await bearer.call('GET', '')).status, 200);
    const reply = await bearer.call('GET', '');
    assert.equal(reply.status, 429);
    const seconds = Number(reply.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 60);
    assert.equal(
      reply.json().message,
      `The client's tier Bronze allows 3 requests a minute for each user. Try again in ${seconds} s.`,
    );
    assert.equal((await area.call('GET', '')).status, 200);
    await area.call('PUT', '/busy', { form: { tier: 'unlimited' } });
    assert.equal((await bearer.call('GET', '')).status, 200);
  });
});
