import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  accessToken,
  answerOf,
  authorizePath,
  callApi,
  callback,
  decide,
  loggedInBrowser,
  makePerson,
  openConsent,
  type Person,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('the page of connected applications', () => {
  let service: RunningService;
  let person: Person;
  let browser: Browser;
  before(async () => {
    service = await startService();
    person = await makePerson(service);
    browser = await loggedInBrowser(service, person);
  });
  after(async () => {
    browser.close();
    await service.dispose();
  });

  const token = async (client: TestClient, fields: Readonly<Record<string, string>>) => {
    const { key, secret } = client;
    const reply = await fetch(`${service.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` },
      body: new URLSearchParams(fields),
    });
    return { status: reply.status, ...JSON.parse(await reply.text()) };
  };
  const connect = async (client: TestClient): Promise<string> => {
    const page = await openConsent(browser, authorizePath(client));
    return answerOf(await decide(browser, page, 'approve')).query['code'] ?? '';
  };
  const exchange = (client: TestClient, code: string) =>
    token(client, { grant_type: 'authorization_code', code, redirect_uri: callback });
  const isLive = async (access: string) => {
    const reply = await fetch(`${service.url}/profiles/v2/me`, {
      headers: { authorization: `Bearer ${access}` },
    });
    await reply.text();
    return reply.status === 200;
  };
  const open = () => browser.get('/account/applications');
  const revoke = async (name: string) => {
    const { html } = await open();
    const item = html.split('<li>').find((part) => part.includes(`<bdi>${name}</bdi>`)) ?? '';
    const field = (of: string) => new RegExp(`name="${of}" value="([^"]+)"`).exec(item)?.[1] ?? '';
    return await browser.post('/account/applications/revoke', {
      csrf: field('csrf'),
      consent: field('consent'),
    });
  };

  test('needs a login', async () => {
    const stranger = new Browser(service.url);
    assert.equal((await stranger.get('/account/applications')).location, '/login');
    stranger.close();
  });

  test('is empty at first, and then shows what was approved: name, owner, address and times', async () => {
    assert.match((await open()).text, /No application has access to your account/);
    const client = await registerClient(service);
    await connect(client);
    const { text } = await open();
    assert.ok(text.includes(client.name));
    assert.match(text, /Owner admin Sends you to app\.example\.org Since .* Last used/);
  });

  test('shows an application once, however often it was approved', async () => {
    const client = await registerClient(service);
    for (const code of [await connect(client), await again(client)]) await exchange(client, code);
    const { html } = await open();
    assert.equal(html.split(`<h2><bdi>${client.name}</bdi></h2>`).length, 2);
  });

  const again = async (client: TestClient): Promise<string> =>
    answerOf(await browser.get(authorizePath(client))).query['code'] ?? '';

  test('revokes at once: access token, refresh token, implicit token, open code and consent', async () => {
    const client = await registerClient(service);
    const { access_token, refresh_token } = await exchange(client, await connect(client));
    const implicit = await accessToken(service, client, person);
    const openCode = await again(client);
    assert.ok((await isLive(access_token)) && (await isLive(implicit)));
    const reply = await revoke(client.name);
    assert.equal(reply.status, 303);
    const page = await browser.follow(reply);
    assert.match(page.text, /Access was revoked\./);
    assert.ok(!page.html.includes(`<bdi>${client.name}</bdi>`));
    assert.ok(!(await isLive(access_token)));
    assert.ok(!(await isLive(implicit)));
    const refreshed = await token(client, { grant_type: 'refresh_token', refresh_token });
    assert.equal(refreshed.error, 'invalid_grant');
    assert.equal((await exchange(client, openCode)).error, 'invalid_grant');
    assert.match((await browser.get(authorizePath(client))).location ?? '', /^\/consent/);
  });

  test('revokes nothing of another person or another application', async () => {
    const [client, other] = [await registerClient(service), await registerClient(service)];
    const stranger = await makePerson(service);
    const kept = await accessToken(service, client, stranger);
    const otherToken = (await exchange(other, await connect(other))).access_token;
    await connect(client);
    await revoke(client.name);
    assert.ok((await isLive(kept)) && (await isLive(otherToken)));
  });

  test('forgets an application that was deleted', async () => {
    const client = await registerClient(service);
    const { access_token } = await exchange(client, await connect(client));
    await callApi(service, 'DELETE', `/clients/v2/${client.name}`);
    assert.ok(!(await isLive(access_token)));
    assert.ok(!(await open()).html.includes(`<bdi>${client.name}</bdi>`));
  });

  test('refuses a form without the token of this session', async () => {
    const client = await registerClient(service);
    const { access_token } = await exchange(client, await connect(client));
    const { html } = await open();
    const consent = /name="consent" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const other = await loggedInBrowser(service, person);
    const csrf = (await other.get('/account/applications')).form('/logout').fields['csrf'] ?? '';
    other.close();
    for (const fields of [{ consent }, { consent, csrf: 'x' }, { consent, csrf }]) {
      const reply = await browser.post('/account/applications/revoke', { csrf: '', ...fields });
      assert.equal(reply.status, 403);
    }
    assert.ok(await isLive(access_token));
  });
});
