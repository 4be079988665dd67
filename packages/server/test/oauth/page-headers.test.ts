import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import {
  authorizePath,
  loggedInBrowser,
  openConsent,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser, type Reply } from '../harness/browser.ts';
import { launchService, type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

describe('every page', () => {
  let service: RunningService;
  let client: TestClient;
  let browser: Browser;
  before(async () => {
    service = await startService();
    client = await registerClient(service);
    browser = await loggedInBrowser(service);
  });
  after(async () => {
    browser.close();
    await service.dispose();
  });

  const policyOf = (reply: Reply) => String(reply.headers['content-security-policy']);

  test('is in no frame, in no cache and in no Referer, and runs no script', async () => {
    const stranger = new Browser(service.url);
    const pages = {
      login: await stranger.get('/login'),
      'login for an application': await stranger.follow(await stranger.get(authorizePath(client))),
      'an error': await stranger.get('/authorize'),
      'a redirect': await stranger.get(authorizePath(client, { response_type: 'x' })),
      'a redirect to login': await stranger.get(authorizePath(client)),
      'a refused form': await stranger.post('/login', {}),
      consent: await openConsent(browser, authorizePath(client, { show_dialog: 'true' })),
      device: await browser.get('/device'),
      applications: await browser.get('/account/applications'),
      'logged out': await stranger.get('/logout'),
      'a wrong verb': await stranger.send('PUT', '/consent', undefined),
      'a request that is over': await stranger.get('/consent?request=xxxxxxxxxxxxxx'),
    };
    stranger.close();
    for (const [name, { headers }] of Object.entries(pages)) {
      const policy = String(headers['content-security-policy']);
      for (const directive of [
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ])
        assert.ok(policy.includes(directive), `${name}: ${directive}`);
      assert.equal(headers['x-frame-options'], 'DENY', name);
      assert.equal(headers['referrer-policy'], 'no-referrer', name);
      assert.equal(headers['cache-control'], 'no-store', name);
      assert.equal(headers['x-content-type-options'], 'nosniff', name);
      assert.equal(headers['strict-transport-security'], undefined, name);
      assert.equal(headers['access-control-allow-origin'], undefined, name);
    }
  });

  const sources = {
    'https://app.example.org/cb': 'https://app.example.org',
    'https://app.example.org:8443/cb?a=b': 'https://app.example.org:8443',
    'http://127.0.0.1:7777/cb': 'http://127.0.0.1:7777',
    'http://[::1]:7777/cb': 'http:',
    'org.example.app:/cb': 'org.example.app:',
  };
  for (const [callbackUrl, source] of Object.entries(sources)) {
    test(`with a form lets it lead to ${callbackUrl} and nowhere else`, async () => {
      const own = await registerClient(service, { callbackUrl });
      const path = authorizePath(own, { redirect_uri: callbackUrl });
      const consent = await openConsent(browser, path);
      const stranger = new Browser(service.url);
      const login = await stranger.follow(await stranger.get(path));
      stranger.close();
      for (const page of [consent, login])
        assert.ok(policyOf(page).includes(`form-action 'self' ${source};`), policyOf(page));
    });
  }

  test('without an application lets its forms lead to the service alone', async () => {
    assert.match(policyOf(await browser.get('/account/applications')), /form-action 'self';/);
  });

  test('loads its style and its pictures from addresses that may be kept for ever', async () => {
    const page = await browser.get('/login');
    const html = page.location === undefined ? page.html : (await browser.follow(page)).html;
    const paths = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    assert.ok(paths.length >= 2);
    for (const path of new Set(paths)) {
      const asset = await browser.get(path);
      assert.equal(asset.status, 200, path);
      assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
      const etag = String(asset.headers.etag);
      const again = await browser.get(path, { 'if-none-match': etag });
      assert.equal(again.status, 304);
      assert.equal(again.html, '');
    }
    assert.equal((await browser.get('/assets/pages/style.other.css')).status, 404);
  });
});

test('behind https the cookie is bound to the host and TLS, and HSTS is set', async (t) => {
  const port = await freePort();
  const service = launchService({
    environment: {
      REACTORD_PORT: String(port),
      REACTORD_BASE_URL: 'https://reactors.example.org',
    },
  });
  t.after(() => service.dispose());
  const url = `http://127.0.0.1:${port}`;
  await until('the service to be healthy', async () =>
    fetch(`${url}/health`).then(
      (reply) => reply.ok,
      () => false,
    ),
  );
  const browser = new Browser(url);
  t.after(() => browser.close());
  const login = await browser.get('/login');
  assert.match(
    String(login.headers['set-cookie']),
    /^__Host-reactord_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const error = await browser.get('/authorize');
  const wrongVerb = await browser.send('PUT', '/login', undefined);
  for (const { headers } of [login, error, wrongVerb])
    assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  const client = await registerClient({ url });
  const refused = await browser.get(authorizePath(client, { response_type: 'x' }));
  assert.match(refused.location ?? '', /iss=https%3A%2F%2Freactors\.example\.org/);
  const forwarded = await browser.get(authorizePath(client, { response_type: 'x' }), {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
  });
  assert.match(forwarded.location ?? '', /iss=https%3A%2F%2Freactors\.example\.org/);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
