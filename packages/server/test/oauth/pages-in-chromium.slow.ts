import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import {
  admin,
  authorizePath,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** The pages in a real browser, whose Content-Security-Policy and cookies are no simulation. */
describe('in Chromium', () => {
  let service: RunningService;
  let chrome: Browser;
  let application: Server;
  let callback: string;
  let client: TestClient;
  before(async () => {
    service = await startService();
    application = createServer((_request, reply) => {
      reply.setHeader('content-type', 'text/html');
      reply.end('<!doctype html><title>The application</title><h1>Welcome back</h1>');
    }).listen(0, '127.0.0.1');
    await once(application, 'listening');
    const address = application.address();
    assert.ok(typeof address === 'object' && address !== null);
    callback = `http://127.0.0.1:${address.port}/cb`;
    client = await registerClient(service, { callbackUrl: callback });
    chrome = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
  });
  after(async () => {
    await chrome?.close();
    application?.close();
    await service?.dispose();
  });

  const logIn = async (page: Page) => {
    await page.getByLabel('Username').fill(admin.username);
    await page.getByLabel('Password').fill(admin.password);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const path = (parameters: Readonly<Record<string, string>>) =>
    service.url + authorizePath(client, { redirect_uri: callback, ...parameters });

  for (const javaScriptEnabled of [true, false]) {
    describe(`with JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, () => {
      /** A page, and everything the browser complained about on it. */
      const open = async () => {
        const context = await chrome.newContext({ javaScriptEnabled });
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error') complaints.push(message.text());
        });
        return { page, complaints, close: () => context.close() };
      };

      test('login and approval arrive at the application with the code, under the page’s own policy', async () => {
        const { page, complaints, close } = await open();
        await page.goto(path({ state: 'a b', show_dialog: 'true' }));
        await logIn(page);
        await page.getByRole('heading', { name: `Allow ${client.name}` }).waitFor();
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
        const url = new URL(page.url());
        assert.equal(url.origin + url.pathname, callback);
        assert.match(url.searchParams.get('code') ?? '', /^rct_ac_/);
        assert.equal(url.searchParams.get('state'), 'a b');
        assert.equal(url.searchParams.get('iss'), service.url);
        assert.deepEqual(
          complaints.filter((text) => !text.includes('favicon')),
          [],
        );
        await close();
      });

      test('an approval of before leads straight from the login form to the application', async () => {
        const { page, close } = await open();
        await page.goto(path({ state: 'direct' }));
        await logIn(page);
        await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
        assert.equal(new URL(page.url()).searchParams.get('state'), 'direct');
        await close();
      });

      test('a denial arrives as access_denied', async () => {
        const { page, close } = await open();
        await page.goto(path({ state: 's', show_dialog: 'true' }));
        await logIn(page);
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
        assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied');
        await close();
      });

      test('the token of the implicit flow arrives in the fragment', async () => {
        const { page, close } = await open();
        await page.goto(path({ response_type: 'token', scope: 'PRODUCTION', show_dialog: 'true' }));
        await logIn(page);
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
        const { hash, search } = new URL(page.url());
        assert.match(new URLSearchParams(hash.slice(1)).get('access_token') ?? '', /^rct_at_/);
        assert.equal(search, '');
        await close();
      });

      test('the page is styled, and the session cookie is out of reach of scripts', async () => {
        const { page, complaints, close } = await open();
        await page.goto(`${service.url}/login`);
        const [cookie] = await page.context().cookies();
        assert.deepEqual(
          { httpOnly: cookie?.httpOnly, sameSite: cookie?.sameSite, path: cookie?.path },
          { httpOnly: true, sameSite: 'Lax', path: '/' },
        );
        const width = (await page.getByRole('main').boundingBox())?.width ?? 0;
        assert.ok(width > 0 && width < 700, 'the style sheet was loaded');
        assert.deepEqual(complaints, []);
        await close();
      });

      test('a device is connected, and an application revoked', async () => {
        const { page, close } = await open();
        const { key, secret } = client;
        const started = await fetch(`${service.url}/device_authorization`, {
          method: 'POST',
          headers: { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` },
          body: new URLSearchParams(),
        });
        await page.goto(JSON.parse(await started.text()).verification_uri_complete);
        await logIn(page);
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.getByRole('heading', { name: 'Device connected' }).waitFor();
        await page.goto(`${service.url}/account/applications`);
        await page.getByRole('button', { name: `Revoke access of ${client.name}` }).click();
        await page.getByText('Access was revoked.').waitFor();
        await page.getByRole('button', { name: 'Log out' }).click();
        await page.getByRole('heading', { name: 'Logged out' }).waitFor();
        await close();
      });

      test('going back after an approval meets a friendly page', async () => {
        const { page, close } = await open();
        await page.goto(path({ show_dialog: 'true' }));
        await logIn(page);
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
        await page.goBack();
        await page.getByRole('heading', { name: 'This request is no longer open' }).waitFor();
        await close();
      });
    });
  }

  test('a page of another site can neither frame the pages nor send their forms', async () => {
    const context = await chrome.newContext();
    const page = await context.newPage();
    await page.goto(`${service.url}/login`);
    await logIn(page);
    await page.getByRole('heading', { name: 'Connected applications' }).waitFor();
    // localhost is another site than 127.0.0.1.
    const evil = createServer((_request, reply) => {
      reply.setHeader('content-type', 'text/html');
      reply.end(
        `<!doctype html><iframe src="${service.url}/account/applications"></iframe>` +
          `<form method="post" action="${service.url}/logout"><button>Win a prize</button></form>`,
      );
    }).listen(0, '127.0.0.1');
    await once(evil, 'listening');
    const address = evil.address();
    assert.ok(typeof address === 'object' && address !== null);
    await page.goto(`http://localhost:${address.port}/`);
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    assert.ok(framed !== undefined);
    assert.ok(!framed.url().startsWith(service.url), 'the frame shows an error instead');
    await page.getByRole('button', { name: 'Win a prize' }).click();
    await page.getByRole('heading', { name: 'This form came from another site' }).waitFor();
    await page.goto(`${service.url}/account/applications`);
    await page.getByRole('heading', { name: 'Connected applications' }).waitFor();
    evil.close();
    await context.close();
  });
});
