import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addUser } from '../harness/beside-service.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, assertUncached, TokenArea } from '../harness/token-area.ts';

describe('ending tokens and asking about them', () => {
  let service: RunningService;
  let area: TokenArea;
  let other: TokenArea;
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
    other = await TokenArea.open(service);
  });
  after(() => service.dispose());

  const begin = async () => (await area.exchange(await area.code())).json();
  const about = async (token: string, by = area) =>
    (await by.post('/introspect', { token })).json();

  test('revoking an access token ends it alone, and answers 200 with {}', async () => {
    const tokens = await begin();
    const reply = await area.post('/revoke', { token: tokens.access_token });
    assert.equal(reply.status, 200);
    assert.equal(reply.text, '{}');
    assertUncached(reply);
    assert.equal((await area.me(tokens.access_token)).status, 401);
    const refreshed = await area.granted({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    assert.equal((await area.me(refreshed.access_token)).status, 200);
  });

  test('revoking a refresh token ends everything that came of it', async () => {
    const tokens = await begin();
    const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const refreshed = await area.granted(again);
    assert.equal((await area.me(refreshed.access_token)).status, 200);
    assert.equal((await area.post('/revoke', { token: tokens.refresh_token })).status, 200);
    for (const token of [tokens.access_token, refreshed.access_token])
      assert.equal((await area.me(token)).status, 401);
    assertRefused(await area.token(again), 400, 'invalid_grant');
  });

  test('a hint is tolerated, also a wrong one', async () => {
    for (const hint of ['access_token', 'refresh_token', 'anything']) {
      const { access_token: token } = await begin();
      const reply = await area.post('/revoke', { token, token_type_hint: hint });
      assert.equal(reply.status, 200);
      assert.equal((await area.me(token)).status, 401);
    }
  });

  test('an unknown token is 200, a missing one invalid_request', async () => {
    assert.equal((await area.post('/revoke', { token: 'nonsense' })).text, '{}');
    assertRefused(await area.post('/revoke', {}), 400, 'invalid_request');
    assertRefused(await area.post('/introspect', {}), 400, 'invalid_request');
  });

  test("another client's tokens stay as they are", async () => {
    const tokens = await begin();
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      assert.equal((await other.post('/revoke', { token })).text, '{}');
      assert.deepEqual(await about(token, other), { active: false });
    }
    assert.equal((await area.me(tokens.access_token)).status, 200);
    assert.equal((await about(tokens.refresh_token)).active, true);
  });

  test('a client hears about its own access token', async () => {
    const tokens = await begin();
    const reply = await area.post('/introspect', { token: tokens.access_token });
    assertUncached(reply);
    const { iat, exp, ...rest } = reply.json();
    assert.deepEqual(rest, {
      active: true,
      iss: service.url,
      token_type: 'bearer',
      client_id: area.client.key,
      username: 'admin',
      sub: 'admin',
      scope: 'PRODUCTION',
    });
    assert.equal(exp - iat, 14_400);
  });

  test('a refresh token without an end has no exp', async () => {
    const body = await about((await begin()).refresh_token);
    assert.equal(body.active, true);
    assert.equal(body.token_type, 'refresh_token');
    assert.equal('exp' in body, false);
  });

  test('everything else is {"active":false}', async () => {
    const { access_token: token } = await begin();
    await area.post('/revoke', { token });
    for (const dead of [token, 'nonsense', area.client.secret, await area.code()])
      assert.deepEqual(await about(dead), { active: false });
  });

  test('an admin may ask with an access token about all, another user may not', async () => {
    const { access_token: admins } = await begin();
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const asked = await area.post(
      '/introspect',
      { token: await other.accessToken() },
      bearer(admins),
    );
    assert.equal(asked.json().active, true);
    const ada = { username: 'ada', password: 'her own long password' };
    await addUser(service, ada);
    const hers = await TokenArea.open(service, {}, ada);
    const reply = await area.post(
      '/introspect',
      { token: admins },
      bearer(await hers.accessToken()),
    );
    assertRefused(reply, 401, 'invalid_client');
  });
});
