import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hashSecret, newSecret } from '../../src/oauth/secret-format.ts';
import { insertAccessToken } from '../../src/oauth/token-rows.ts';
import { once } from '../../src/store/statement.ts';
import { addUser, besideService } from '../harness/beside-service.ts';
import { basic, ClientsArea, type Reply } from '../harness/clients-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { TokenArea } from '../harness/token-area.ts';
import { until } from '../harness/until.ts';

const ada = { username: 'ada', password: 'her own long password' };

function assertFault(reply: Reply, status: number, code: number, message: string): void {
  assert.equal(reply.status, status, reply.text);
  const { fault, ...envelope } = reply.json();
  assert.deepEqual(Object.keys(envelope), ['status', 'message', 'result', 'version']);
  assert.equal(fault.code, code);
  assert.equal(fault.message, message);
  assert.ok(fault.description);
}

describe('the use of an access token', () => {
  let service: RunningService;
  let area: TokenArea;
  let token: string;
  before(async () => {
    service = await startService({ environment: { REACTORD_TIER_BRONZE: '3' } });
    area = await TokenArea.open(service);
    token = await area.accessToken();
    await addUser(service, ada);
  });
  after(() => service.dispose());

  const get = (headers: Readonly<Record<string, string>>, path = '/profiles/v2/me') =>
    area.send(path, { method: 'GET', headers });

  test('the scheme is read in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      assert.equal((await get({ authorization: `${scheme} ${token}` })).status, 200);
  });

  test('a token in the address is refused, even beside a good header', async () => {
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      const reply = await get(headers, `/profiles/v2/me?access_token=${token}`);
      assert.equal(reply.status, 400, reply.text);
      assert.match(reply.headers.get('www-authenticate') ?? '', /error="invalid_request"/);
    }
    assert.ok(!service.output().includes(token));
  });

  test('a token in a form body is not taken', async () => {
    const reply = await area.send('/clients/v2', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `access_token=${token}&clientName=x`,
    });
    assert.equal(reply.status, 401);
  });

  test('a missing token is 401 with a challenge that names no error', async () => {
    const reply = await get({});
    assertFault(reply, 401, 900902, 'Missing Credentials');
    assert.equal(reply.headers.get('www-authenticate'), 'Bearer realm="reactord"');
  });

  for (const header of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer "x"', 'Bearer\tx', 'Bearer:x']) {
    test(`the malformed header ${JSON.stringify(header)} is 400 invalid_request`, async () => {
      const reply = await get({ authorization: header });
      assert.equal(reply.status, 400, reply.text);
      assert.match(reply.headers.get('www-authenticate') ?? '', /error="invalid_request"/);
    });
  }

  const assertInvalid = (reply: Reply) => {
    assertFault(reply, 401, 900904, 'Invalid Credentials');
    assert.match(
      reply.headers.get('www-authenticate') ?? '',
      /^Bearer realm="reactord", error="invalid_token"/,
    );
  };

  test('an unknown token, one with a wrong checksum and another kind of secret are invalid_token', async () => {
    const broken = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a');
    const others = [
      newSecret('accessToken'),
      broken,
      newSecret('refreshToken'),
      area.client.secret,
      'x',
    ];
    for (const other of others) assertInvalid(await area.me(other));
  });

  test('an expired token is invalid_token, also when it was just in use', async () => {
    const short = await area.accessToken();
    await besideService(service, (store) =>
      store.write(
        once((db) =>
          db
            .updateTable('access_tokens')
            .set({ expires_at: Date.now() + 1500 })
            .where('hash', '=', hashSecret(short)),
        ),
      ),
    );
    assert.equal((await area.me(short)).status, 200);
    const refused = await until('its end', async () => {
      const reply = await area.me(short);
      return reply.status === 401 ? reply : undefined;
    });
    assertInvalid(refused);
  });

  test('a revoked token is invalid_token at once', async () => {
    const revoked = await area.accessToken();
    assert.equal((await area.me(revoked)).status, 200);
    await area.post('/revoke', { token: revoked });
    assertInvalid(await area.me(revoked));
  });

  test('a client that is not subscribed to the API is 403, and says what to do', async () => {
    const narrow = await TokenArea.open(service);
    const its = await narrow.accessToken();
    assert.equal((await narrow.me(its)).status, 200);
    const clients = new ClientsArea(service);
    const path = `/${narrow.client.name}/subscriptions`;
    const cut = await clients.call('DELETE', path, { form: { name: 'Profiles' } });
    assert.equal(cut.status, 200, cut.text);
    const reply = await narrow.me(its);
    assertFault(reply, 403, 900908, 'Resource forbidden');
    assert.match(reply.json().message, /is not subscribed to the API Profiles\. Subscribe it:/);
    await clients.call('POST', path, { form: { name: 'Profiles' } });
    assert.equal((await narrow.me(its)).status, 200);
  });

  test("the tier's rate is 429 with Retry-After", async () => {
    const slow = await TokenArea.open(service, { tier: 'Bronze' });
    const its = await slow.accessToken();
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await slow.me(its)).status);
    assert.deepEqual(statuses, [200, 200, 200]);
    const reply = await slow.me(its);
    assertFault(reply, 429, 900800, 'Message throttled out');
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/);
  });

  test('HTTP Basic is taken where the route says so, and is Missing Credentials elsewhere', async () => {
    const admin = basic('admin', 'correct horse battery');
    assert.equal((await get({ authorization: admin }, '/clients/v2')).status, 200);
    const wrong = await get({ authorization: basic('admin', 'wrong password') }, '/clients/v2');
    assertFault(wrong, 401, 900904, 'Invalid Credentials');
    assert.match(wrong.headers.get('www-authenticate') ?? '', /Basic realm="reactord"/);
  });

  test("an execution's token works at other APIs and never at Clients or /introspect", async () => {
    const execution = newSecret('accessToken');
    await besideService(service, async (store) => {
      const { id, owner_id: userId } = await store.read
        .selectFrom('clients')
        .select(['id', 'owner_id'])
        .where('key', '=', area.client.key)
        .executeTakeFirstOrThrow();
      await store.write(
        insertAccessToken({
          hash: hashSecret(execution),
          authorizationId: null,
          clientId: id,
          userId,
          flow: 'execution',
          scope: 'PRODUCTION',
          now: Date.now(),
          expiresAt: Date.now() + 60_000,
        }),
      );
    });
    assert.equal((await area.me(execution)).status, 200);
    const reply = await get({ authorization: `Bearer ${execution}` }, '/clients/v2');
    assert.equal(reply.status, 403, reply.text);
    const asked = await area.post(
      '/introspect',
      { token },
      { headers: { authorization: `Bearer ${execution}` } },
    );
    assert.equal(asked.status, 401);
  });
});
