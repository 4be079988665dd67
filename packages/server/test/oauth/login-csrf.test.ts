import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  admin,
  authorizePath,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const cookieName = 'reactord_session';

describe('a login form is refused (CSRF)', () => {
  let service: RunningService;
  let client: TestClient;
  const browsers: Browser[] = [];
  before(async () => {
    service = await startService();
    client = await registerClient(service);
  });
  after(async () => {
    for (const browser of browsers) browser.close();
    await service.dispose();
  });

  const newBrowser = (): Browser => {
    const browser = new Browser(service.url);
    browsers.push(browser);
    return browser;
  };

  const openLogin = async () => {
    const browser = newBrowser();
    const login = await browser.follow(await browser.get(authorizePath(client)));
    return { browser, form: login.form('/login') };
  };
  const attempt = async (
    { browser, form }: Awaited<ReturnType<typeof openLogin>>,
    fields: Readonly<Record<string, string>>,
  ) => {
    const before = browser.cookies.get(cookieName);
    const reply = await browser.post(form.action, { ...fields, ...admin });
    assert.equal(reply.status, 403);
    assert.match(reply.text, /out of date/);
    assert.equal(browser.cookies.get(cookieName), before);
    const page = await browser.get('/account/applications');
    assert.equal(page.location, '/login', 'nobody was logged in');
  };

  test('without a token', async () => {
    const opened = await openLogin();
    const { csrf: _, ...fields } = opened.form.fields;
    await attempt(opened, fields);
    await attempt(opened, { ...fields, csrf: '' });
  });

  test('with a wrong token', async () => {
    const opened = await openLogin();
    for (const csrf of ['x', 'x'.repeat(43), '\u{1F600}', opened.form.fields['csrf']?.slice(1)])
      await attempt(opened, { ...opened.form.fields, csrf: csrf ?? '' });
  });

  test('with the token of another session', async () => {
    const [mine, other] = [await openLogin(), await openLogin()];
    await attempt(mine, { ...mine.form.fields, csrf: other.form.fields['csrf'] ?? '' });
  });

  test('with the token of another request of the same session', async () => {
    const opened = await openLogin();
    const second = await opened.browser.follow(await opened.browser.get(authorizePath(client)));
    const csrf = second.form('/login').fields['csrf'] ?? '';
    assert.notEqual(csrf, opened.form.fields['csrf']);
    await attempt(opened, { ...opened.form.fields, csrf });
    const plain = (await opened.browser.get('/login')).form('/login').fields['csrf'] ?? '';
    await attempt(opened, { ...opened.form.fields, csrf: plain });
  });

  test('with the token twice', async () => {
    const { browser, form } = await openLogin();
    const csrf = form.fields['csrf'] ?? '';
    const pairs = [
      ['csrf', csrf],
      ['csrf', csrf],
      ['request', form.fields['request'] ?? ''],
      ['username', admin.username],
      ['password', admin.password],
    ] as const;
    assert.equal((await browser.post('/login', pairs)).status, 403);
  });

  test('without the cookie', async () => {
    const { form } = await openLogin();
    const reply = await newBrowser().post('/login', { ...form.fields, ...admin });
    assert.equal(reply.status, 403);
    assert.equal(reply.headers['set-cookie'], undefined);
  });

  test('from another site, by what the browser says of it', async () => {
    const { browser, form } = await openLogin();
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: `${service.url}.evil.example` },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const reply = await browser.post('/login', { ...form.fields, ...admin }, headers);
      assert.equal(reply.status, 403);
      assert.match(reply.text, /another site/);
    }
    const own = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    const reply = await browser.post('/login', { ...form.fields, ...admin }, own);
    assert.equal(reply.status, 303);
  });

  test('as JSON, as plain text or too large, by a page', async () => {
    const { browser, form } = await openLogin();
    const json = await browser.send('POST', '/login', JSON.stringify(form.fields), {
      'content-type': 'application/json',
    });
    assert.equal(json.status, 415);
    const plain = await browser.send('POST', '/login', 'csrf=x', {
      'content-type': 'text/plain',
    });
    assert.equal(plain.status, 415);
    const large = await browser.post('/login', { ...form.fields, username: 'x'.repeat(17_000) });
    assert.equal(large.status, 413);
    const broken = await browser.send('POST', '/login', 'csrf=%ff', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    assert.equal(broken.status, 400);
    const nothing = await browser.send('POST', '/login', undefined);
    assert.equal(nothing.status, 403);
    for (const reply of [json, plain, large, broken, nothing])
      assert.match(String(reply.headers['content-type']), /^text\/html/);
  });
});
