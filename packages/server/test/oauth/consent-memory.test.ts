import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  authorizePath,
  callApi,
  callback,
  decide,
  loggedInBrowser,
  makePerson,
  openConsent,
  type Person,
  registerClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('a consent is remembered', () => {
  let service: RunningService;
  let person: Person;
  const browsers: Browser[] = [];
  before(async () => {
    service = await startService();
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
  const approve = async (browser: Browser, path: string) =>
    await decide(browser, await openConsent(browser, path), 'approve');
  const isAsked = async (browser: Browser, path: string) =>
    /^\/consent\?request=/.test((await browser.get(path)).location ?? '');

  test('for the same client, scope and address, by both flows, also after a new login', async () => {
    const own = await registerClient(service);
    const browser = await logIn();
    await approve(browser, authorizePath(own));
    const again = await browser.get(authorizePath(own, { state: 'direct' }));
    assert.equal(again.status, 302);
    assert.match(again.location ?? '', /^https:\/\/app\.example\.org\/cb\?code=.*state=direct/);
    const token = await browser.get(
      authorizePath(own, { response_type: 'token', scope: 'PRODUCTION' }),
    );
    assert.match(token.location ?? '', /#access_token=/);
    const other = new Browser(service.url);
    browsers.push(other);
    const login = await other.follow(await other.get(authorizePath(own)));
    const after = await other.follow(await other.submit(login.form('/login'), { ...person }));
    assert.match(after.location ?? '', /\?code=/);
  });

  test('but asked for again with show_dialog=true, and not with show_dialog=false', async () => {
    const own = await registerClient(service);
    const browser = await logIn();
    await approve(browser, authorizePath(own, { show_dialog: 'true' }));
    assert.ok(await isAsked(browser, authorizePath(own, { show_dialog: 'true' })));
    assert.ok(!(await isAsked(browser, authorizePath(own, { show_dialog: 'false' }))));
  });

  test('for no other person, no other client and no other address', async () => {
    const second = 'https://app.example.org/second';
    const own = await registerClient(service, {
      callbackUrl: undefined,
      callbackUrls: [callback, second],
    });
    const browser = await logIn();
    await approve(browser, authorizePath(own));
    assert.ok(await isAsked(browser, authorizePath(own, { redirect_uri: second })));
    assert.ok(await isAsked(browser, authorizePath(await registerClient(service))));
    const stranger = await logIn(await makePerson(service));
    assert.ok(await isAsked(stranger, authorizePath(own)));
  });

  test('until the client changes, in its callback URLs or otherwise', async () => {
    const changes = [
      { description: 'something else' },
      { callbackUrls: [callback, 'https://evil.example/'] },
    ];
    for (const change of changes) {
      const own = await registerClient(service);
      const browser = await logIn();
      await approve(browser, authorizePath(own));
      assert.ok(!(await isAsked(browser, authorizePath(own))));
      await callApi(service, 'PUT', `/clients/v2/${own.name}`, change);
      assert.ok(await isAsked(browser, authorizePath(own)), JSON.stringify(change));
      await approve(browser, authorizePath(own));
      assert.ok(!(await isAsked(browser, authorizePath(own))));
    }
  });

  test('until the person denies', async () => {
    const own = await registerClient(service);
    const browser = await logIn();
    await approve(browser, authorizePath(own));
    const page = await openConsent(browser, authorizePath(own, { show_dialog: 'true' }));
    await decide(browser, page, 'deny');
    assert.ok(await isAsked(browser, authorizePath(own)));
  });
});
