import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  createDatabase,
  type PostgresServer,
  startPostgres,
  type TestDatabase,
} from '../../../../setup/postgres.ts';
import { basic } from '../harness/clients-area.ts';
import { adminPassword, type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, TokenArea } from '../harness/token-area.ts';
import { until } from '../harness/until.ts';

/** Two processes look for each other's changes once a second. */
const soonMs = 2_000;

describe('two processes on one PostgreSQL', () => {
  let server: PostgresServer | undefined;
  let database: TestDatabase;
  let one: RunningService;
  let two: RunningService;
  let here: TokenArea;
  let there: TokenArea;
  before(async () => {
    let { REACTORD_TEST_POSTGRES: admin } = process.env;
    if (admin === undefined) {
      server = await startPostgres();
      admin = server.url;
    }
    database = await createDatabase(admin);
    const environment = { REACTORD_DATABASE: database.url, REACTORD_REFRESH_ROTATION: 'true' };
    one = await startService({ environment });
    two = await startService({ environment });
    here = await TokenArea.open(one);
    there = new TokenArea(two, here.client);
  });
  after(async () => {
    await one?.dispose();
    await two?.dispose();
    await database?.drop();
    await server?.stop();
  });

  const login = {
    grant_type: 'password',
    username: 'admin',
    password: adminPassword,
    scope: 'PRODUCTION',
  };

  /** The token is in the memory of both processes. */
  const liveToken = async () => {
    const tokens = await here.granted(login);
    assert.equal((await here.me(tokens.access_token)).status, 200);
    assert.equal((await there.me(tokens.access_token)).status, 200);
    return tokens;
  };

  const diesThere = async (token: string) => {
    const since = Date.now();
    await until(
      'the other process to refuse it',
      async () => (await there.me(token)).status === 401,
    );
    assert.ok(Date.now() - since <= soonMs, `it took ${Date.now() - since} ms`);
  };

  test('a token of one is good at the other at once', async () => {
    assert.equal((await there.me(await here.accessToken())).status, 200);
  });

  test('a revoked access token is refused by the other within two seconds', async () => {
    const { access_token: token } = await liveToken();
    await here.post('/revoke', { token });
    assert.equal((await here.me(token)).status, 401);
    await diesThere(token);
  });

  test('a revoked refresh token ends the access tokens at the other within two seconds', async () => {
    const tokens = await liveToken();
    await here.post('/revoke', { token: tokens.refresh_token });
    await diesThere(tokens.access_token);
  });

  test('a deleted client ends its tokens at the other within two seconds', async () => {
    const area = await TokenArea.open(one);
    const token = await area.accessToken();
    assert.equal((await there.me(token)).status, 200);
    await fetch(`${one.url}/clients/v2/${area.client.name}`, {
      method: 'DELETE',
      headers: { authorization: basic('admin', adminPassword) },
    });
    await diesThere(token);
  });

  test('a refresh token that both replace at once has one successor', async () => {
    const { refresh_token: token } = await liveToken();
    const form = { grant_type: 'refresh_token', refresh_token: token };
    const replies = await Promise.all(
      [here, there, here, there, here, there].map((area) => area.token(form)),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(replies.map((reply) => reply.json().refresh_token)).size, 1);
  });

  test('the pace of a device is kept across both', async () => {
    const started = (await here.post('/device_authorization', {})).json();
    const ask = (area: TokenArea) =>
      area.token({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: started.device_code,
      });
    assertRefused(await ask(here), 400, 'authorization_pending');
    assertRefused(await ask(there), 400, 'slow_down');
  });
});
