import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { besideService } from '../harness/beside-service.ts';
import { logged } from '../harness/logged.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, TokenArea } from '../harness/token-area.ts';

const verifier = 'a-verifier.of_43~characters-at-the-very-least';
const codeChallenge = createHash('sha256').update(verifier).digest('base64url');

describe('the exchange of an authorization code', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
  });
  after(() => service.dispose());

  test('gives an access token and a refresh token', async () => {
    const reply = await area.exchange(await area.code());
    assert.equal(reply.status, 200, reply.text);
    const body = reply.json();
    assert.deepEqual(Object.keys(body), [
      'access_token',
      'token_type',
      'expires_in',
      'refresh_token',
    ]);
    assert.equal(body.expires_in, 14_400);
    assert.equal((await area.me(body.access_token)).status, 200);
  });

  test('works with client_id and client_secret in the body, as the contract shows it', async () => {
    const { key, secret } = area.client;
    const reply = await area.token(
      {
        grant_type: 'authorization_code',
        code: await area.code(),
        client_id: key,
        client_secret: secret,
        redirect_uri: 'https://app.example.org/cb',
      },
      { headers: {} },
    );
    assert.equal(reply.status, 200, reply.text);
  });

  test('an unknown code is invalid_grant, a missing code or redirect_uri invalid_request', async () => {
    assertRefused(await area.exchange('x'), 400, 'invalid_grant');
    assertRefused(await area.exchange(`rct_ac_${'0'.repeat(49)}`), 400, 'invalid_grant');
    assertRefused(await area.exchange(''), 400, 'invalid_request');
    const code = await area.code();
    assertRefused(await area.exchange(code, { redirect_uri: '' }), 400, 'invalid_request');
    assert.equal((await area.exchange(code)).status, 200, 'a request without it used nothing up');
  });

  test("another client's code is invalid_grant and stays as it was", async () => {
    const thief = await TokenArea.open(service);
    const code = await area.code();
    assertRefused(await thief.exchange(code), 400, 'invalid_grant');
    const { access_token: token } = (await area.exchange(code)).json();
    assertRefused(await thief.exchange(code), 400, 'invalid_grant');
    assert.equal((await area.me(token)).status, 200, 'a replay by someone else ends nothing');
  });

  for (const [what, redirectUri] of [
    ['another address', 'https://evil.example.org/cb'],
    ['a trailing slash', 'https://app.example.org/cb/'],
    ['another case', 'https://app.example.org/CB'],
  ]) {
    test(`a redirect_uri with ${what} is invalid_grant and uses the code up`, async () => {
      const code = await area.code();
      const reply = await area.exchange(code, { redirect_uri: redirectUri ?? '' });
      assertRefused(reply, 400, 'invalid_grant');
      assertRefused(await area.exchange(code), 400, 'invalid_grant');
    });
  }

  test('an expired code is invalid_grant', async () => {
    const code = await area.code();
    await besideService(service, async (store) => {
      const { sql } = await import('kysely');
      const { once } = await import('../../src/store/statement.ts');
      await store.write(
        once((db) =>
          db.updateTable('authorization_codes').set({ expires_at: sql`expires_at - 61000` }),
        ),
      );
    });
    assertRefused(await area.exchange(code), 400, 'invalid_grant');
  });

  test('PKCE: the right verifier is accepted', async () => {
    const code = await area.code({ codeChallenge });
    assert.equal((await area.exchange(code, { code_verifier: verifier })).status, 200);
  });

  for (const [what, sent] of [
    ['a missing verifier', {}],
    ['a wrong verifier', { code_verifier: 'w'.repeat(43) }],
    ['a verifier that is too short', { code_verifier: 'short' }],
    ['the challenge itself as verifier', { code_verifier: codeChallenge }],
  ] as const) {
    test(`PKCE: ${what} is invalid_grant and uses the code up`, async () => {
      const code = await area.code({ codeChallenge });
      assertRefused(await area.exchange(code, sent), 400, 'invalid_grant');
      assertRefused(await area.exchange(code, { code_verifier: verifier }), 400, 'invalid_grant');
    });
  }

  test('PKCE: a verifier for a code without a challenge is invalid_grant', async () => {
    const code = await area.code();
    assertRefused(await area.exchange(code, { code_verifier: verifier }), 400, 'invalid_grant');
  });

  test('a client that must use PKCE gets nothing for a code without a challenge', async () => {
    const strict = await TokenArea.open(service, { requirePkce: true });
    assertRefused(await strict.exchange(await strict.code()), 400, 'invalid_grant');
  });

  test('of 50 exchanges at once exactly one is granted', async () => {
    const code = await area.code();
    const replies = await Promise.all(Array.from({ length: 50 }, () => area.exchange(code)));
    const granted = replies.filter(({ status }) => status === 200);
    assert.equal(granted.length, 1);
    for (const reply of replies)
      if (reply.status !== 200) assertRefused(reply, 400, 'invalid_grant');
  });

  test('a replay by the same client ends every token of the code, and what was refreshed from it', async () => {
    const code = await area.code();
    const first = (await area.exchange(code)).json();
    const refreshed = await area.granted({
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token,
    });
    assert.equal((await area.me(first.access_token)).status, 200);
    assert.equal((await area.me(refreshed.access_token)).status, 200);
    assertRefused(await area.exchange(code), 400, 'invalid_grant');
    assert.equal((await area.me(first.access_token)).status, 401);
    assert.equal((await area.me(refreshed.access_token)).status, 401);
    const again = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    assertRefused(await area.token(again), 400, 'invalid_grant');
    await logged(service, /"event":"code_replayed"/);
  });

  test('codes and tokens are neither stored nor logged', async () => {
    const code = await area.code();
    const { access_token: token, refresh_token: refresh } = (await area.exchange(code)).json();
    const [codes, tokens] = await besideService(service, async (store) => [
      await store.read.selectFrom('authorization_codes').selectAll().execute(),
      await store.read.selectFrom('access_tokens').selectAll().execute(),
    ]);
    const kept = JSON.stringify([codes, tokens]) + service.output() + service.errors();
    for (const secret of [code, token, refresh, area.client.secret])
      assert.ok(!kept.includes(secret.slice(7, 40)));
  });
});
