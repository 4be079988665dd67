import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  admin,
  authorizePath,
  callAsAdmin,
  decide,
  loggedInBrowser,
  makePerson,
  openAndLogIn,
  openConsent,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const cookieName = 'reactord_session';
const wrong = 'Wrong username or password.';

describe('logging in', () => {
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

  test('leads from an application to its consent page, and without one to the connected applications', async () => {
    const browser = newBrowser();
    const consent = await openAndLogIn(browser, authorizePath(client));
    assert.equal(consent.status, 200);
    assert.match(consent.text, new RegExp(`Allow ${client.name} to use your account\\?`));
    const direct = await loggedInBrowser(service);
    browsers.push(direct);
    const page = await direct.get('/account/applications');
    assert.equal(page.status, 200);
    assert.match(page.text, /Connected applications/);
  });

  test('is not asked of who is logged in', async () => {
    const browser = newBrowser();
    await openAndLogIn(browser, authorizePath(client));
    assert.match((await browser.get(authorizePath(client))).location ?? '', /^\/consent\?request=/);
    assert.equal((await browser.get('/login')).location, '/account/applications');
  });

  test('says the same for a wrong password, an unknown user, a disabled user and anything strange', async () => {
    const gone = await makePerson(service);
    await callAsAdmin(service, 'PUT', `/profiles/v2/${gone.username}`, { status: 'Inactive' });
    const attempts = [
      { username: 'nobody', password: admin.password },
      { username: gone.username, password: gone.password },
      { username: 'admin', password: 'wrong' },
      { username: 'admin', password: '' },
      { username: '', password: '' },
      { username: '<b>"&', password: 'x' },
      { username: 'x'.repeat(1000), password: 'x'.repeat(2000) },
      { username: 'nul\0', password: 'x' },
    ];
    for (const attempt of attempts) {
      const browser = newBrowser();
      const login = await browser.get('/login');
      const reply = await browser.submit(login.form('/login'), attempt);
      assert.equal(reply.status, 403, JSON.stringify(attempt));
      assert.ok(reply.text.includes(wrong), reply.text);
      assert.equal(reply.headers['set-cookie'], undefined);
      assert.ok(!reply.html.includes('<b>"'));
    }
  });

  test('keeps the typed name after a failure, and the same form works then', async () => {
    const browser = newBrowser();
    const login = await browser.follow(await browser.get(authorizePath(client)));
    const failed = await browser.submit(login.form('/login'), {
      username: 'admin',
      password: 'no',
    });
    assert.equal(failed.form('/login').fields['username'], 'admin');
    assert.equal(failed.form('/login').fields['password'], '');
    const again = await browser.submit(failed.form('/login'), { password: admin.password });
    assert.match(again.location ?? '', /^\/consent\?request=/);
  });

  test('answers with 303, so that no browser sends the password along', async () => {
    const browser = newBrowser();
    const login = await browser.get('/login');
    assert.equal((await browser.submit(login.form('/login'), { ...admin })).status, 303);
  });

  test('gives the session a new cookie, and the one before is worth nothing (fixation)', async () => {
    const victim = newBrowser();
    await victim.get('/login');
    const planted = victim.copy();
    browsers.push(planted);
    const before = victim.cookies.get(cookieName);
    await openAndLogIn(victim, authorizePath(client));
    assert.notEqual(victim.cookies.get(cookieName), before);
    assert.equal((await planted.get('/account/applications')).location, '/login');
  });

  test('does not take a cookie value that the visitor made up', async () => {
    const browser = newBrowser();
    for (const value of ['x', 'x'.repeat(43), '%00', '"', 'a'.repeat(3000)]) {
      browser.cookies.set(cookieName, value);
      const reply = await browser.get('/login');
      assert.equal(reply.status, 200);
      assert.notEqual(browser.cookies.get(cookieName), value);
    }
  });

  test('sets a cookie that scripts cannot read and other sites do not send', async () => {
    const browser = newBrowser();
    const line = String((await browser.get('/login')).headers['set-cookie']);
    assert.match(line, /^reactord_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('is slowed down for who guesses, longer and longer, even with the right password then', async () => {
    const person = await makePerson(service);
    const browser = newBrowser();
    let form = (await browser.get('/login')).form('/login');
    const waits: number[] = [];
    for (let guess = 0; waits.length < 2; guess += 1) {
      assert.ok(guess < 100, 'the limit comes soon');
      const typed = { username: person.username, password: `guess ${guess}` };
      const reply = await browser.submit(form, typed);
      form = reply.form('/login');
      if (reply.status === 403) continue;
      assert.equal(reply.status, 429);
      assert.match(reply.text, /Too many attempts\. Try again in/);
      const seconds = Number(reply.headers['retry-after']);
      assert.ok(seconds >= 1);
      waits.push(seconds);
      const right = await browser.submit(form, { ...person });
      assert.equal(right.status, 429);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
    const [first = 0, second = 0] = waits;
    assert.ok(second > first, waits.join(', '));
  });

  test('works in several tabs at once, each with its own request', async () => {
    const browser = newBrowser();
    const open = async (state: string) =>
      await browser.follow(await browser.get(authorizePath(client, { state })));
    const [one, two] = [await open('one'), await open('two')];
    const after = await browser.submit(one.form('/login'), { ...admin });
    const consentOne = await browser.follow(after);
    // The second tab still shows its login form; sending it leads on to its own consent page.
    const second = await browser.submit(two.form('/login'), { ...admin });
    assert.equal(second.status, 303);
    const consentTwo = await browser.follow(second);
    const deniedTwo = await decide(browser, consentTwo, 'deny');
    const deniedOne = await decide(browser, consentOne, 'deny');
    assert.match(deniedOne.location ?? '', /state=one/);
    assert.match(deniedTwo.location ?? '', /state=two/);
  });

  test('lasts across a restart of the service, and so does the request that waits', async () => {
    let own = await startService();
    try {
      const app = await registerClient(own);
      const browser = new Browser(own.url);
      browsers.push(browser);
      const consent = await openAndLogIn(browser, authorizePath(app, { state: 'kept' }));
      own.signal('SIGTERM');
      await own.ended;
      own = await startService({ data: own.data });
      browser.moveTo(own.url);
      const approved = await decide(browser, consent, 'approve');
      assert.match(approved.location ?? '', /\?code=rct_ac_\w+&state=kept&iss=/);
    } finally {
      await own.dispose();
    }
  });

  test('ends at once when the user is disabled or removed', async () => {
    for (const end of [
      (path: string) => callAsAdmin(service, 'PUT', path, { status: 'Inactive' }),
      (path: string) => callAsAdmin(service, 'DELETE', path),
    ]) {
      const person = await makePerson(service);
      const browser = await loggedInBrowser(service, person);
      browsers.push(browser);
      const consent = await openConsent(browser, authorizePath(client));
      await end(`/profiles/v2/${person.username}`);
      assert.equal((await browser.get('/account/applications')).location, '/login');
      const reply = await decide(browser, consent, 'approve');
      assert.equal(reply.status, 403);
      assert.equal(reply.location, undefined);
    }
  });

  test('is over after logging out, which needs a token too', async () => {
    const browser = await loggedInBrowser(service);
    browsers.push(browser);
    const form = (await browser.get('/account/applications')).form('/logout');
    assert.equal((await browser.post('/logout', { csrf: 'x' })).status, 403);
    assert.equal(
      (await browser.get('/logout')).location,
      '/account/applications',
      'GET ends nothing',
    );
    const thief = browser.copy();
    browsers.push(thief);
    const out = await browser.submit(form);
    assert.equal(out.status, 303);
    assert.match((await browser.follow(out)).text, /You are logged out/);
    assert.equal(browser.cookies.get(cookieName), undefined);
    assert.equal((await thief.get('/account/applications')).location, '/login');
  });

  test('as somebody else keeps the request that waits', async () => {
    const person = await makePerson(service);
    const browser = newBrowser();
    const consent = await openAndLogIn(browser, authorizePath(client, { state: 'kept' }), person);
    assert.match(consent.text, new RegExp(`Logged in as ${person.username}\\. Not you\\?`));
    const login = await browser.follow(await browser.submit(consent.form('/logout')));
    const after = await browser.submit(login.form('/login'), { ...admin });
    const again = await browser.follow(after);
    assert.match(again.text, /Logged in as admin\. Not you\?/);
    assert.match((await decide(browser, again, 'deny')).location ?? '', /state=kept/);
    // The consent page of the first person cannot be used any more.
    assert.equal((await decide(browser, consent, 'approve')).status, 403);
  });

  test('shows a friendly page for a request that is over, of another browser or made up', async () => {
    const browser = newBrowser();
    const reply = await browser.get(authorizePath(client));
    const others = newBrowser();
    await others.get('/login');
    for (const path of [
      reply.location ?? '',
      '/login?request=unknown',
      '/login?request=https://evil.example',
      '/login?request=%2F%2Fevil.example',
      '/login?request=%ff%00',
      '/consent',
      '/consent?request=device',
      `/consent?request=${'x'.repeat(14)}`,
      '/consent?request=a&request=b',
    ]) {
      const page = await others.get(path);
      assert.equal(page.status, 400, path);
      assert.match(page.text, /no longer open/);
      assert.ok(!page.html.includes('evil'));
    }
  });

  test('never sends anybody to an address that came with the visit', async () => {
    const browser = newBrowser();
    for (const name of ['next', 'return_to', 'redirect', 'redirect_uri', 'url', 'continue']) {
      const address = encodeURIComponent('https://evil.example/');
      const login = await browser.get(`/login?${name}=${address}`);
      assert.ok(!login.html.includes('evil'));
      const form = login.form('/login');
      const reply = await browser.post(`/login?${name}=${address}`, {
        ...form.fields,
        ...admin,
        [name]: 'https://evil.example/',
      });
      assert.equal(reply.location, '/account/applications');
      const out = (await browser.get('/account/applications')).form('/logout');
      await browser.post(`/logout?${name}=${address}`, { ...out.fields, [name]: '//evil.example' });
    }
  });
});
