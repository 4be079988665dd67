import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { once } from '../../src/store/statement.ts';
import { besideService } from '../harness/beside-service.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, assertUncached, TokenArea } from '../harness/token-area.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

describe('the flow for devices without a browser', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
  });
  after(() => service.dispose());

  const begin = async () => {
    const reply = await area.post('/device_authorization', { scope: 'PRODUCTION' });
    assert.equal(reply.status, 200, reply.text);
    assertUncached(reply);
    return reply.json();
  };
  const ask = (deviceCode: string, by = area) =>
    by.token({ grant_type: grantType, device_code: deviceCode });
  /** As if the device had waited. */
  const wait = (ms: number) =>
    besideService(service, (store) =>
      store.write(
        once((db) =>
          db.updateTable('device_codes').set((row) => ({
            last_polled_at: row('last_polled_at', '-', ms),
            expires_at: row('expires_at', '-', ms),
          })),
        ),
      ),
    );

  test('begins with a device code, a user code to type, and where to type it', async () => {
    const body = await begin();
    assert.match(body.device_code, /^rct_dc_[0-9A-Za-z]{49}$/);
    assert.match(body.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    assert.equal(body.verification_uri, `${service.url}/device`);
    assert.equal(
      body.verification_uri_complete,
      `${service.url}/device?user_code=${body.user_code}`,
    );
    assert.equal(body.expires_in, 600);
    assert.equal(body.interval, 5);
  });

  test('while nobody has decided: authorization_pending; asked too soon: slow_down', async () => {
    const { device_code: code } = await begin();
    assertRefused(await ask(code), 400, 'authorization_pending');
    assertRefused(await ask(code), 400, 'slow_down');
    await wait(6_000);
    assertRefused(await ask(code), 400, 'slow_down');
    await wait(16_000);
    assertRefused(await ask(code), 400, 'authorization_pending');
  });

  test('after a yes: tokens, exactly once', async () => {
    const { device_code: code, user_code: userCode } = await begin();
    assert.equal(await area.decideDevice(userCode.toLowerCase().replace('-', ' '), true), true);
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask(code)));
    const granted = replies.filter(({ status }) => status === 200);
    assert.equal(granted.length, 1);
    const body = granted[0]?.json();
    assert.deepEqual(Object.keys(body), [
      'access_token',
      'token_type',
      'expires_in',
      'refresh_token',
    ]);
    assert.equal((await area.me(body.access_token)).status, 200);
    assertRefused(await ask(code), 400, 'invalid_grant');
    assert.equal(await area.decideDevice(userCode, true), false);
  });

  test('after a no: access_denied', async () => {
    const { device_code: code, user_code: userCode } = await begin();
    await area.decideDevice(userCode, false);
    assertRefused(await ask(code), 400, 'access_denied');
  });

  test('too late: expired_token, and nothing to approve', async () => {
    const { device_code: code, user_code: userCode } = await begin();
    await wait(600_000);
    assertRefused(await ask(code), 400, 'expired_token');
    assert.equal(await area.decideDevice(userCode, true), false);
  });

  test("another client's device code, an unknown one and a missing one", async () => {
    const { device_code: code, user_code: userCode } = await begin();
    const thief = await TokenArea.open(service);
    assertRefused(await ask(code, thief), 400, 'invalid_grant');
    await area.decideDevice(userCode, true);
    assertRefused(await ask(code, thief), 400, 'invalid_grant');
    assertRefused(await ask('x'), 400, 'invalid_grant');
    assertRefused(await ask(''), 400, 'invalid_request');
    assert.equal((await ask(code)).status, 200);
  });

  test('a scope other than PRODUCTION is invalid_scope', async () => {
    assertRefused(await area.post('/device_authorization', { scope: 'X' }), 400, 'invalid_scope');
  });
});
