import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Users } from '../../src/identity/users.ts';
import { hashSecret } from '../../src/oauth/secret-format.ts';
import { addUser, besideService } from '../harness/beside-service.ts';
import { logged } from '../harness/logged.ts';
import { adminPassword, type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, TokenArea } from '../harness/token-area.ts';
import { until } from '../harness/until.ts';

const ada = { username: 'ada', password: 'her own long password' };

describe('the password and client credentials grants', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
    await addUser(service, ada);
  });
  after(() => service.dispose());

  const login = (username: string, password: string, scope = 'PRODUCTION') => ({
    grant_type: 'password',
    username,
    password,
    scope,
  });
  const disable = (username: string) =>
    besideService(service, async (store, changes) => {
      const users = new Users(store, changes);
      const user = await users.byUsername(username);
      assert.ok(user);
      await users.change(user.id, { status: 'disabled' });
    });

  test("a user's password gives tokens with which the user calls, whoever registered the client", async () => {
    const body = await area.granted(login(ada.username, ada.password));
    assert.deepEqual(Object.keys(body), [
      'access_token',
      'token_type',
      'expires_in',
      'refresh_token',
    ]);
    assert.equal((await area.me(body.access_token)).json().username, 'ada');
  });

  test('the scope is needed, and only PRODUCTION', async () => {
    const { scope: _, ...without } = login(ada.username, ada.password);
    assertRefused(await area.token(without), 400, 'invalid_scope');
    assertRefused(
      await area.token(login(ada.username, ada.password, 'SANDBOX')),
      400,
      'invalid_scope',
    );
    const both = login(ada.username, ada.password, 'PRODUCTION SANDBOX');
    assertRefused(await area.token(both), 400, 'invalid_scope');
    assertRefused(await area.token(login(ada.username, ada.password, ' ')), 400, 'invalid_scope');
  });

  test('a missing username or password is invalid_request', async () => {
    assertRefused(await area.token(login('', ada.password)), 400, 'invalid_request');
    assertRefused(await area.token(login(ada.username, '')), 400, 'invalid_request');
  });

  test('an unknown user, a wrong password and a disabled user are refused alike', async () => {
    const bob = { username: 'bob', password: 'a password of his own' };
    await addUser(service, bob);
    const { access_token: before } = await area.granted(login(bob.username, bob.password));
    await disable('bob');
    const replies = [
      await area.token(login('nobody', ada.password)),
      await area.token(login(ada.username, 'not her password')),
      await area.token(login(bob.username, bob.password)),
    ];
    for (const reply of replies) assertRefused(reply, 400, 'invalid_grant');
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    await until('the token of the disabled user to be dead', async () =>
      (await area.me(before)).status === 401 ? true : undefined,
    );
  });

  test('too many failures are 429 with Retry-After, in the words of OAuth', async () => {
    const reply = await until('the limit', async () => {
      const tried = await area.token(login('carol', 'guess'));
      return tried.status === 429 ? tried : undefined;
    });
    assertRefused(reply, 429, 'temporarily_unavailable');
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/);
  });

  test('a client credentials token acts for the one who registered the client, without a refresh token', async () => {
    const hers = await TokenArea.open(service, {}, ada);
    const body = await hers.granted({ grant_type: 'client_credentials' });
    assert.equal(body.refresh_token, undefined);
    assert.equal((await hers.me(body.access_token)).json().username, 'ada');
  });

  test('the scope of client credentials is optional, and only PRODUCTION', async () => {
    const grant = { grant_type: 'client_credentials' };
    assert.equal((await area.token({ ...grant, scope: 'PRODUCTION' })).status, 200);
    assertRefused(await area.token({ ...grant, scope: 'production' }), 400, 'invalid_scope');
  });

  test('client credentials of a disabled registrant are refused', async () => {
    const dan = { username: 'dan', password: 'a password of his own' };
    await addUser(service, dan);
    const his = await TokenArea.open(service, {}, dan);
    const { access_token: token } = await his.granted({ grant_type: 'client_credentials' });
    await disable('dan');
    // Disabled by another process, so it takes a moment to be known here.
    const refused = await until('the refusal', async () => {
      const reply = await his.token({ grant_type: 'client_credentials' });
      return reply.status === 200 ? undefined : reply;
    });
    assertRefused(refused, 400, 'invalid_grant');
    await until('his token to be dead', async () => (await his.me(token)).status === 401);
  });

  test('a flow that the client may not use is unauthorized_client', async () => {
    const narrow = await TokenArea.open(service, { flows: ['authorization_code'] });
    const refused = [
      { grant_type: 'client_credentials' },
      login('admin', adminPassword),
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'x' },
    ];
    for (const form of refused) assertRefused(await narrow.token(form), 400, 'unauthorized_client');
    assertRefused(await narrow.post('/device_authorization', {}), 400, 'unauthorized_client');
  });

  test('every issued token has its line in the log, without the token', async () => {
    const token = await area.accessToken();
    // The beginning of its hash, by which the line is found again.
    const hash = hashSecret(token).toString('hex').slice(0, 12);
    await logged(
      service,
      new RegExp(
        `"event":"token_issued","client":"\\w+","user":"\\w+","grant":"client_credentials","tokenHash":"${hash}"`,
      ),
    );
    assert.ok(!service.output().includes(token));
  });
});

test('an operator can switch the password flow off, and set lifetimes for each flow', async (t) => {
  const service = await startService({
    environment: { REACTORD_PASSWORD_FLOW: 'false', REACTORD_CLIENT_TOKEN_LIFETIME: '10m' },
  });
  t.after(service.dispose);
  const area = await TokenArea.open(service);
  const form = {
    grant_type: 'password',
    username: 'admin',
    password: adminPassword,
    scope: 'PRODUCTION',
  };
  assertRefused(await area.token(form), 400, 'unauthorized_client');
  assert.equal((await area.granted({ grant_type: 'client_credentials' })).expires_in, 600);
  assert.equal((await area.exchange(await area.code())).json().expires_in, 14_400);
});
