import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Users } from '../../src/identity/users.ts';
import { once } from '../../src/store/statement.ts';
import { addUser, besideService } from '../harness/beside-service.ts';
import { logged } from '../harness/logged.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, TokenArea } from '../harness/token-area.ts';

const refresh = (refreshToken: string, more = {}) => ({
  grant_type: 'refresh_token',
  refresh_token: refreshToken,
  ...more,
});

const begin = async (area: TokenArea) => (await area.exchange(await area.code())).json();

/** Lets the refresh tokens of the service look as if they were issued and used earlier. */
const age = (service: RunningService, ms: number) =>
  besideService(service, (store) =>
    store.write(
      once((db) =>
        db.updateTable('refresh_tokens').set((row) => ({
          last_used_at: row('last_used_at', '-', ms),
          replaced_at: row('replaced_at', '-', ms),
        })),
      ),
      once((db) =>
        db.updateTable('authorizations').set((row) => ({ created_at: row('created_at', '-', ms) })),
      ),
    ),
  );

describe('refreshing, as it is by default', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
  });
  after(() => service.dispose());

  test('gives a new access token and the same refresh token, again and again', async () => {
    const first = await begin(area);
    for (let round = 0; round < 3; round += 1) {
      const body = await area.granted(refresh(first.refresh_token));
      assert.deepEqual(Object.keys(body), [
        'access_token',
        'token_type',
        'expires_in',
        'refresh_token',
      ]);
      assert.equal(body.refresh_token, first.refresh_token);
      assert.notEqual(body.access_token, first.access_token);
      assert.equal((await area.me(body.access_token)).status, 200);
    }
    assert.equal((await area.me(first.access_token)).status, 200, 'the old one lives on');
  });

  test('never expires, even years after the access token is dead', async () => {
    const { refresh_token: token } = await begin(area);
    await age(service, 5 * 365 * 86_400_000);
    assert.equal((await area.token(refresh(token))).status, 200);
  });

  test('takes the scope of the password flow or none, and refuses a wider one', async () => {
    const { refresh_token: token } = await begin(area);
    assert.equal((await area.token(refresh(token, { scope: 'PRODUCTION' }))).status, 200);
    assertRefused(
      await area.token(refresh(token, { scope: 'PRODUCTION ADMIN' })),
      400,
      'invalid_scope',
    );
    assertRefused(await area.token(refresh(token, { scope: 'ADMIN' })), 400, 'invalid_scope');
    assert.equal((await area.token(refresh(token))).status, 200);
  });

  test('an unknown token is invalid_grant, a missing one invalid_request', async () => {
    assertRefused(await area.token(refresh('x')), 400, 'invalid_grant');
    assertRefused(await area.token(refresh('')), 400, 'invalid_request');
    const { access_token: wrongKind } = await begin(area);
    assertRefused(await area.token(refresh(wrongKind)), 400, 'invalid_grant');
  });

  test("another client's refresh token is invalid_grant and stays as it was", async () => {
    const { refresh_token: token } = await begin(area);
    const thief = await TokenArea.open(service);
    assertRefused(await thief.token(refresh(token)), 400, 'invalid_grant');
    assert.equal((await area.token(refresh(token))).status, 200);
  });

  test('20 refreshes at once all succeed', async () => {
    const { refresh_token: token } = await begin(area);
    const replies = await Promise.all(Array.from({ length: 20 }, () => area.token(refresh(token))));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  });

  test('ends with a change of the password and when the user is disabled', async () => {
    const ada = { username: 'ada', password: 'her own long password' };
    await addUser(service, ada);
    const form = { grant_type: 'password', scope: 'PRODUCTION', ...ada };
    const { refresh_token: token } = await area.granted(form);
    const change = (fields: { password: string } | { status: 'disabled' }) =>
      besideService(service, async (store, changes) => {
        const users = new Users(store, changes);
        const user = await users.byUsername('ada');
        assert.ok(user);
        await users.change(user.id, fields);
      });
    await change({ password: 'another long password' });
    assertRefused(await area.token(refresh(token)), 400, 'invalid_grant');
    const again = await area.granted({ ...form, password: 'another long password' });
    await change({ status: 'disabled' });
    assertRefused(await area.token(refresh(again.refresh_token)), 400, 'invalid_grant');
  });
});

describe('refreshing with rotation', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService({ environment: { REACTORD_REFRESH_ROTATION: 'true' } });
    area = await TokenArea.open(service);
  });
  after(() => service.dispose());

  test('each use replaces the refresh token', async () => {
    const first = await begin(area);
    const second = await area.granted(refresh(first.refresh_token));
    const third = await area.granted(refresh(second.refresh_token));
    assert.equal(new Set([first, second, third].map((body) => body.refresh_token)).size, 3);
  });

  test('within the grace a replaced token gives the same successor again', async () => {
    const { refresh_token: old } = await begin(area);
    const replies = await Promise.all(Array.from({ length: 10 }, () => area.token(refresh(old))));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    const successors = new Set(replies.map((reply) => reply.json().refresh_token));
    assert.equal(successors.size, 1);
    const [successor] = successors;
    assert.equal((await area.token(refresh(String(successor)))).status, 200);
  });

  test('a replaced token whose successor is in use ends the family', async () => {
    const { refresh_token: old } = await begin(area);
    const { refresh_token: next } = await area.granted(refresh(old));
    const { access_token: token, refresh_token: last } = await area.granted(refresh(next));
    assert.equal((await area.me(token)).status, 200);
    assertRefused(await area.token(refresh(old)), 400, 'invalid_grant');
    assertRefused(await area.token(refresh(last)), 400, 'invalid_grant');
    assert.equal((await area.me(token)).status, 401);
    await logged(service, /"event":"refresh_token_reused"/);
  });

  test('a replaced token after the grace ends the family', async () => {
    const { refresh_token: old } = await begin(area);
    const { refresh_token: next, access_token: token } = await area.granted(refresh(old));
    await age(service, 31_000);
    assertRefused(await area.token(refresh(old)), 400, 'invalid_grant');
    assertRefused(await area.token(refresh(next)), 400, 'invalid_grant');
    assert.equal((await area.me(token)).status, 401);
  });
});

test('an idle limit and an absolute limit end refresh tokens', async (t) => {
  const service = await startService({
    environment: { REACTORD_REFRESH_IDLE_LIMIT: '1d', REACTORD_REFRESH_LIFETIME: '7d' },
  });
  t.after(service.dispose);
  const area = await TokenArea.open(service);
  const day = 86_400_000;
  const idle = await begin(area);
  await age(service, 0.9 * day);
  assert.equal((await area.token(refresh(idle.refresh_token))).status, 200, 'used in time');
  await age(service, 1.1 * day);
  assertRefused(await area.token(refresh(idle.refresh_token)), 400, 'invalid_grant');
  const old = await begin(area);
  for (let passed = 0; passed < 7; passed += 0.9) {
    assert.equal((await area.token(refresh(old.refresh_token))).status, 200, `day ${passed}`);
    await age(service, 0.9 * day);
  }
  assertRefused(await area.token(refresh(old.refresh_token)), 400, 'invalid_grant');
});
