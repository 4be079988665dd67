import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  authorizePath,
  callback,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser, type Reply } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('an authorization request that cannot be trusted gets a page and is never redirected:', () => {
  let service: RunningService;
  let client: TestClient;
  let browser: Browser;
  before(async () => {
    service = await startService();
    client = await registerClient(service);
    browser = new Browser(service.url);
  });
  after(async () => {
    browser.close();
    await service.dispose();
  });

  const ask = (parameters: Readonly<Record<string, string | undefined>>) =>
    browser.get(authorizePath(client, parameters));

  /** A page that says no, and no redirect. */
  const assertErrorPage = (reply: Reply, words: RegExp, about = '') => {
    assert.equal(reply.status, 400, about);
    assert.equal(reply.location, undefined, about);
    assert.match(String(reply.headers['content-type']), /^text\/html/, about);
    assert.match(reply.text, words, about);
  };

  test('a missing, empty, unknown or strange client_id', async () => {
    const unregistered = /not registered here/;
    assertErrorPage(await ask({ client_id: undefined }), /does not say which application/);
    assertErrorPage(await ask({ client_id: '' }), /does not say which application/);
    for (const client_id of ['nobody', `${client.key}x`, client.key.toLowerCase(), ' ', '\0', '٣'])
      assertErrorPage(await ask({ client_id }), unregistered, client_id);
    assertErrorPage(await ask({ client_id: 'x'.repeat(10_000) }), unregistered);
  });

  test('a repeated client_id, even with the same value', async () => {
    const path = authorizePath(client);
    assertErrorPage(await browser.get(`${path}&client_id=${client.key}`), /more than once/);
    assertErrorPage(await browser.get(`${path}&client%5Fid=other`), /more than once/);
  });

  test('a missing, empty or repeated redirect_uri', async () => {
    const none = /does not say which address/;
    assertErrorPage(await ask({ redirect_uri: undefined }), none);
    assertErrorPage(await ask({ redirect_uri: '' }), none);
    const twice = `${authorizePath(client)}&redirect_uri=${encodeURIComponent(callback)}`;
    assertErrorPage(await browser.get(twice), /more than once/);
  });

  test('a client without a callback URL', async () => {
    const bare = await registerClient(service, { callbackUrl: '' });
    assertErrorPage(await browser.get(authorizePath(bare)), /not registered for its application/);
    const { key } = bare;
    assertErrorPage(
      await browser.get(`/authorize?response_type=code&client_id=${key}`),
      /does not say which address/,
    );
  });

  test('a client_id or redirect_uri with broken percent-encoding or not UTF-8', async () => {
    const encoded = encodeURIComponent(callback);
    for (const broken of ['%', '%zz', '%ff', '%c0%af', '%ed%a0%80', '%u0041']) {
      const reply = await browser.get(
        `/authorize?response_type=code&client_id=${client.key}&redirect_uri=${encoded}${broken}`,
      );
      assertErrorPage(reply, /does not say which address/, broken);
      assertErrorPage(
        await browser.get(`/authorize?client_id=${broken}&redirect_uri=${encoded}`),
        /does not say which application/,
        broken,
      );
    }
  });

  const nearMisses = [
    `${callback}/`,
    `${callback}#`,
    `${callback}#fragment`,
    `${callback}?`,
    `${callback}?a=b`,
    `${callback}&`,
    `${callback} `,
    ` ${callback}`,
    `${callback}\t`,
    `${callback}\n`,
    `${callback}\r\nSet-Cookie: a=b`,
    `${callback}\0`,
    `${callback}%00`,
    'https://app.example.org/CB',
    'https://app.example.org/c%62',
    'https://app.example.org/cb%2f',
    'https://APP.example.org/cb',
    'HTTPS://app.example.org/cb',
    'https://app.example.org:443/cb',
    'http://app.example.org/cb',
    'https://app.example.org/x/../cb',
    'https://app.example.org/x/%2e%2e/cb',
    'https://app.example.org/./cb',
    'https://app.example.org//cb',
    'https://app.example.org\\cb',
    'https:\\\\app.example.org\\cb',
    'https://app.example.org/\\cb',
    'https://user@app.example.org/cb',
    'https://app.example.org@evil.example/cb',
    'https://evil.example/https://app.example.org/cb',
    'https://app.example.org.evil.example/cb',
    'https://evil.example\\@app.example.org/cb',
    'https://app.example.org./cb',
    'https://sub.app.example.org/cb',
    'https://аpp.example.org/cb',
    'https://app.example.org/ćb',
    'https://app。example.org/cb',
    '//app.example.org/cb',
    '/cb',
    'app.example.org/cb',
    'https://app.example.org',
    'https://app.example.org/c',
    'https://app.example.org/cbx',
    encodeURIComponent(callback),
    'javascript:alert(1)//https://app.example.org/cb',
    'data:text/html,https://app.example.org/cb',
    `${callback},${callback}`,
  ];
  for (const redirect_uri of nearMisses) {
    test(`the near miss ${JSON.stringify(redirect_uri)}`, async () => {
      const reply = await ask({ redirect_uri, state: 's' });
      assertErrorPage(reply, /not registered for its application/);
      assert.ok(!reply.html.includes('evil.example'), 'the page does not repeat the address');
    });
  }

  test('whatever else is right or wrong with it, and before any login', async () => {
    const fresh = new Browser(service.url);
    for (const response_type of ['code', 'token', 'nonsense', undefined]) {
      const parameters = { redirect_uri: 'https://evil.example', response_type, scope: 'x' };
      const reply = await fresh.get(authorizePath(client, parameters));
      assertErrorPage(reply, /not registered for its application/);
      assert.equal(reply.headers['set-cookie'], undefined);
    }
    fresh.close();
  });

  test('with nothing of the request on the page', async () => {
    const attack = '<script>alert(1)</script>';
    for (const name of ['client_id', 'redirect_uri']) {
      const reply = await ask({ [name]: attack, state: attack });
      assert.equal(reply.status, 400);
      assert.ok(!reply.html.includes('alert'));
    }
  });
});
