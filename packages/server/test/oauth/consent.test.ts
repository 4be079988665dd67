import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
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

const implicit = { response_type: 'token', scope: 'PRODUCTION' } as const;

describe('a consent', () => {
  let service: RunningService;
  let client: TestClient;
  let person: Person;
  const browsers: Browser[] = [];
  before(async () => {
    service = await startService();
    client = await registerClient(service);
    person = await makePerson(service);
  });
  after(async () => {
    for (const browser of browsers) browser.close();
    await service.dispose();
  });

  const logIn = async (who: Person = person): Promise<Browser> => {
    const browser = await loggedInBrowser(service, who);
    browsers.push(browser);
    return browser;
  };

  test('page shows the name, the owner and the host to return to, and two equal buttons', async () => {
    const browser = await logIn();
    const page = await openConsent(browser, authorizePath(client, { show_dialog: 'true' }));
    for (const words of [client.name, 'Owner admin', 'Sends you to app.example.org', '4 hours'])
      assert.ok(page.text.includes(words), `${words} in ${page.text}`);
    const { buttons, fields } = page.form('/consent');
    assert.deepEqual(buttons, [
      { name: 'decision', value: 'approve' },
      { name: 'decision', value: 'deny' },
    ]);
    assert.deepEqual(
      Object.keys(fields).sort(),
      ['csrf', 'request'],
      'nothing else of the request',
    );
    assert.match(page.html, /value="approve" class="button"[\s\S]*value="deny" class="button"/);
  });

  test('that is given returns a code in the query, with state and iss, by 303', async () => {
    const browser = await logIn();
    const page = await openConsent(
      browser,
      authorizePath(client, { state: 'x y', show_dialog: 'true' }),
    );
    const reply = await decide(browser, page, 'approve');
    assert.equal(reply.status, 303);
    const { address, query, fragment } = answerOf(reply);
    assert.equal(address, callback);
    assert.equal(fragment, undefined);
    assert.deepEqual(Object.keys(query), ['code', 'state', 'iss']);
    assert.match(query['code'] ?? '', /^rct_ac_[0-9A-Za-z]{49}$/);
    assert.equal(query['state'], 'x y');
    assert.equal(query['iss'], service.url);
  });

  test('that is given to the implicit flow returns a working token in the fragment alone', async () => {
    const browser = await logIn();
    const parameters = { ...implicit, state: 's', show_dialog: 'true' };
    const reply = await decide(
      browser,
      await openConsent(browser, authorizePath(client, parameters)),
      'approve',
    );
    const { address, query, fragment } = answerOf(reply);
    assert.equal(address, callback);
    assert.deepEqual(query, {});
    const { access_token, ...rest } = fragment ?? {};
    assert.deepEqual(rest, {
      token_type: 'bearer',
      expires_in: '3600',
      state: 's',
      iss: service.url,
    });
    const me = await fetch(`${service.url}/profiles/v2/me`, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    assert.equal(JSON.parse(await me.text()).username, person.username);
  });

  test('that is denied returns access_denied, and for the implicit flow in both places', async () => {
    const browser = await logIn();
    const code = await decide(
      browser,
      await openConsent(browser, authorizePath(client, { state: 's', show_dialog: 'true' })),
      'deny',
    );
    assert.equal(code.status, 303);
    const { query, fragment } = answerOf(code);
    assert.equal(query['error'], 'access_denied');
    assert.equal(query['state'], 's');
    assert.equal(query['iss'], service.url);
    assert.equal(query['code'], undefined);
    assert.equal(fragment, undefined);
    const token = answerOf(
      await decide(browser, await openConsent(browser, authorizePath(client, implicit)), 'deny'),
    );
    assert.equal(token.query['error'], 'access_denied');
    assert.equal(token.fragment?.['error'], 'access_denied');
    assert.equal(token.fragment?.['access_token'], undefined);
  });

  test('keeps the registered query in front of the answer', async () => {
    const callbackUrl = 'https://app.example.org/cb?tenant=a%20b';
    const own = await registerClient(service, { callbackUrl });
    const browser = await logIn();
    const path = authorizePath(own, { redirect_uri: callbackUrl });
    const reply = await decide(browser, await openConsent(browser, path), 'approve');
    assert.ok(reply.location?.startsWith(`${callbackUrl}&code=`));
    const token = await decide(
      browser,
      await openConsent(
        browser,
        authorizePath(own, { ...implicit, redirect_uri: callbackUrl, show_dialog: 'true' }),
      ),
      'approve',
    );
    assert.ok(token.location?.startsWith(`${callbackUrl}#access_token=`));
  });

  describe('form is refused (CSRF)', () => {
    const open = async (browser: Browser) =>
      (await openConsent(browser, authorizePath(client, { show_dialog: 'true' }))).form('/consent');
    const attempt = async (browser: Browser, fields: Readonly<Record<string, string>>) => {
      const reply = await browser.post('/consent', { decision: 'approve', ...fields });
      assert.equal(reply.status, 403);
      assert.equal(reply.location, undefined);
      assert.match(reply.text, /out of date/);
    };

    test('without a token, with a wrong one, and the request stays open', async () => {
      const browser = await logIn();
      const { fields } = await open(browser);
      const { csrf: _, ...without } = fields;
      await attempt(browser, without);
      await attempt(browser, { ...without, csrf: 'x'.repeat(43) });
      const reply = await browser.post('/consent', { ...fields, decision: 'deny' });
      assert.equal(reply.status, 303);
    });

    test('with the token of another session', async () => {
      const [mine, other] = [await logIn(), await logIn()];
      const [form, foreign] = [await open(mine), await open(other)];
      await attempt(mine, { ...form.fields, csrf: foreign.fields['csrf'] ?? '' });
    });

    test('with the token of another request', async () => {
      const browser = await logIn();
      const [one, two] = [await open(browser), await open(browser)];
      await attempt(browser, { ...one.fields, csrf: two.fields['csrf'] ?? '' });
      const account = (await browser.get('/account/applications')).form('/logout');
      await attempt(browser, { ...one.fields, csrf: account.fields['csrf'] ?? '' });
    });

    test('for the request of another session, even with a token of its own for it', async () => {
      const [mine, victim] = [await logIn(), await logIn()];
      const form = await open(victim);
      await attempt(mine, form.fields);
      const reply = await mine.get(`/consent?request=${form.fields['request']}`);
      assert.equal(reply.status, 400);
    });

    test('with the token of the login form before', async () => {
      const browser = new Browser(service.url);
      browsers.push(browser);
      const login = await browser.follow(await browser.get(authorizePath(client)));
      const { csrf = '', request = '' } = login.form('/login').fields;
      await browser.submit(login.form('/login'), { ...person });
      await attempt(browser, { csrf, request });
    });

    test('from another site, and without a decision', async () => {
      const browser = await logIn();
      const { fields } = await open(browser);
      const headers = { 'sec-fetch-site': 'cross-site' };
      const foreign = await browser.post('/consent', { ...fields, decision: 'approve' }, headers);
      assert.equal(foreign.status, 403);
      assert.match(foreign.text, /another site/);
      for (const decision of ['', 'yes', 'Approve'])
        assert.equal((await browser.post('/consent', { ...fields, decision })).status, 403);
    });
  });

  test('form takes nothing of the request but its id', async () => {
    const browser = await logIn();
    const page = await openConsent(browser, authorizePath(client, { show_dialog: 'true' }));
    const reply = await browser.submit(page.form('/consent'), {
      decision: 'approve',
      redirect_uri: 'https://evil.example/',
      client_id: 'other',
      scope: 'ALL',
      state: 'other',
    });
    assert.ok(reply.location?.startsWith(`${callback}?code=`));
    assert.ok(!reply.location?.includes('other'));
  });

  test('is given once: the back button and a second click meet a friendly page', async () => {
    const browser = await logIn();
    const page = await openConsent(browser, authorizePath(client, { show_dialog: 'true' }));
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => decide(browser, page, 'approve')),
    );
    assert.equal(replies.filter((reply) => reply.status === 303).length, 1);
    for (const reply of replies.filter(({ status }) => status !== 303)) {
      assert.equal(reply.status, 400);
      assert.match(reply.text, /no longer open/);
    }
    const back = await browser.get(`/consent?request=${page.form('/consent').fields['request']}`);
    assert.equal(back.status, 400);
  });

  test('is not given to a client that changed or went while its person read the page', async () => {
    const browser = await logIn();
    const changed = await registerClient(service);
    const page = await openConsent(browser, authorizePath(changed));
    await callApi(service, 'PUT', `/clients/v2/${changed.name}`, { description: 'now evil' });
    assert.equal((await decide(browser, page, 'approve')).status, 400);
    const removed = await registerClient(service);
    const second = await openConsent(browser, authorizePath(removed));
    await callApi(service, 'DELETE', `/clients/v2/${removed.name}`);
    const reply = await decide(browser, second, 'approve');
    assert.equal(reply.status, 400);
    assert.match(reply.text, /no longer open/);
  });
});
