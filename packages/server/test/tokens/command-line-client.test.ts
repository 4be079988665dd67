import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DeviceCodes } from '../../src/oauth/device-codes.ts';
import { besideService } from '../harness/beside-service.ts';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { adminPassword, type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, TokenArea } from '../harness/token-area.ts';

const key = 'reactord-cli';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

describe('the client of the command line', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService();
    area = new TokenArea(service, { key, secret: '', name: 'reactord command line' });
  });
  after(() => service.dispose());

  const post = (path: string, form: Record<string, string>) =>
    area.post(path, { client_id: key, ...form }, { headers: {} });
  const byPassword = async () => {
    const reply = await post('/token', {
      grant_type: 'password',
      username: 'admin',
      password: adminPassword,
      scope: 'PRODUCTION',
    });
    assert.equal(reply.status, 200, reply.text);
    return reply.json();
  };

  test('logs in by device code where nobody has registered anything, and may call every API', async () => {
    const begun = (await post('/device_authorization', {})).json();
    await besideService(service, async (store) => {
      const admin = await store.read
        .selectFrom('users')
        .select('id')
        .where('username', '=', 'admin')
        .executeTakeFirstOrThrow();
      assert.ok(await new DeviceCodes(store).decide(begun.user_code, admin.id, true));
    });
    const reply = await post('/token', {
      grant_type: deviceGrant,
      device_code: begun.device_code,
    });
    assert.equal(reply.status, 200, reply.text);
    const { access_token: token } = reply.json();
    for (const path of ['/profiles/v2/me', '/actors/v2', '/audit/v2']) {
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await area.send(path, { method: 'GET', headers })).status, 200, path);
    }
  });

  test('gets a new refresh token with each use of one, and loses all of them when an old one comes back', async () => {
    const first = await byPassword();
    const renew = (token: string) =>
      post('/token', { grant_type: 'refresh_token', refresh_token: token });
    const second = (await renew(first.refresh_token)).json();
    assert.notEqual(second.refresh_token, first.refresh_token);
    // The reply may have got lost: within the grace the same successor comes again.
    assert.equal((await renew(first.refresh_token)).json().refresh_token, second.refresh_token);
    const third = (await renew(second.refresh_token)).json();
    assertRefused(await renew(first.refresh_token), 400, 'invalid_grant');
    assertRefused(await renew(third.refresh_token), 400, 'invalid_grant');
    assert.equal((await area.me(third.access_token)).status, 401);
  });

  test('ends its own tokens', async () => {
    const { access_token: token, refresh_token: refresh } = await byPassword();
    assert.equal((await post('/revoke', { token: refresh })).status, 200);
    assert.equal((await area.me(token)).status, 401);
    const { access_token: other } = await byPassword();
    const headers = { authorization: `Bearer ${other}` };
    const query = '?action=End%20a%20token';
    const noted = await area.send('/audit/v2', { method: 'GET', headers, query });
    const [entry] = noted
      .json()
      .result.filter(({ resource }: { resource: string }) => resource === '/revoke');
    assert.deepEqual([entry.user, entry.client], ['admin', 'reactord command line']);
  });

  test('is let do nothing else without a secret: no other grant, no introspection, no redirect', async () => {
    const { access_token: token } = await byPassword();
    assertRefused(
      await post('/token', { grant_type: 'client_credentials' }),
      400,
      'unauthorized_client',
    );
    assertRefused(await post('/introspect', { token }), 401, 'invalid_client');
    for (const secret of ['x', '']) {
      const reply = await area.post(
        '/token',
        { grant_type: 'client_credentials' },
        { headers: { authorization: basic(key, secret) } },
      );
      assertRefused(reply, 401, 'invalid_client');
    }
    const query = `?response_type=code&client_id=${key}&redirect_uri=https://x.example.org/`;
    const shown = await area.send('/authorize', { method: 'GET', query });
    assert.equal(shown.status, 400);
    assert.equal(shown.headers.get('location'), null);
  });

  test('a client that has a secret cannot leave it out', async () => {
    const other = await TokenArea.open(service);
    const reply = await other.post(
      '/token',
      { grant_type: 'client_credentials', client_id: other.client.key },
      { headers: {} },
    );
    assertRefused(reply, 401, 'invalid_client');
  });

  test('belongs to nobody: it is in no list, and its owner is no user', async () => {
    const clients = new ClientsArea(service);
    const listed = await clients.call('GET', '');
    assert.doesNotMatch(listed.text, /command line/);
    const { access_token: token } = await byPassword();
    const headers = { authorization: `Bearer ${token}` };
    const users = await area.send('/profiles/v2', { method: 'GET', headers });
    assert.doesNotMatch(users.text, /this service/);
    for (const method of ['GET', 'DELETE']) {
      const one = await area.send('/profiles/v2/this%20service', { method, headers });
      assert.ok([400, 404].includes(one.status), one.text);
    }
  });

  test('one who begins logins by the dozen has to wait', async () => {
    const replies = [];
    for (let count = 0; count < 25; count += 1)
      replies.push(await post('/device_authorization', {}));
    const last = replies.at(-1);
    assert.equal(last?.status, 429, last?.text);
    assert.ok(Number(last?.headers.get('retry-after')) > 0);
  });
});
