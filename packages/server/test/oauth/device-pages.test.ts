import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  loggedInBrowser,
  makePerson,
  type Person,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('the device page', () => {
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

  const call = async (path: string, fields: Readonly<Record<string, string>>) => {
    const { key, secret } = client;
    const reply = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` },
      body: new URLSearchParams(fields),
    });
    return JSON.parse(await reply.text());
  };
  const startDevice = () => call('/device_authorization', {});
  const askForToken = (device_code: string) =>
    call('/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code,
    });
  const pathOf = (address: string) => address.slice(service.url.length);

  test('connects a device: type the code, compare, approve', async () => {
    const device = await startDevice();
    const browser = await logIn();
    const page = await browser.get(pathOf(device.verification_uri));
    const typed = device.user_code.toLowerCase().replace('-', ' ');
    const confirm = await browser.submit(page.form('/device'), { user_code: typed });
    assert.equal(confirm.status, 200);
    for (const words of [device.user_code, client.name, 'Owner admin', 'If somebody sent you'])
      assert.ok(confirm.text.includes(words), words);
    const done = await browser.submit(confirm.form('/device'), { decision: 'approve' });
    assert.equal(done.status, 303);
    assert.match((await browser.follow(done)).text, /Device connected/);
    assert.match((await askForToken(device.device_code)).access_token, /^rct_at_/);
  });

  test('denies a device', async () => {
    const device = await startDevice();
    const browser = await logIn();
    const page = await browser.get('/device');
    const confirm = await browser.submit(page.form('/device'), { user_code: device.user_code });
    const done = await browser.submit(confirm.form('/device'), { decision: 'deny' });
    assert.match((await browser.follow(done)).text, /Device not connected/);
    assert.equal((await askForToken(device.device_code)).error, 'access_denied');
  });

  test('fills in the code of the complete address and approves nothing by itself', async () => {
    const device = await startDevice();
    const browser = await logIn();
    const page = await browser.get(pathOf(device.verification_uri_complete));
    assert.equal(page.status, 200);
    assert.equal(page.form('/device').fields['user_code'], device.user_code);
    assert.equal((await askForToken(device.device_code)).error, 'authorization_pending');
    const confirm = await browser.submit(page.form('/device'));
    assert.ok(confirm.text.includes(device.user_code));
    assert.match(
      (await askForToken(device.device_code)).error,
      /^(authorization_pending|slow_down)$/,
    );
    assert.equal(confirm.form('/device').fields['decision'], undefined);
  });

  test('asks who is not logged in to do so, and comes back with the code', async () => {
    const device = await startDevice();
    const browser = new Browser(service.url);
    browsers.push(browser);
    const login = await browser.follow(await browser.get(pathOf(device.verification_uri_complete)));
    assert.match(login.text, /Log in to connect your device/);
    const page = await browser.follow(await browser.submit(login.form('/login'), { ...person }));
    assert.equal(page.form('/device').fields['user_code'], device.user_code);
  });

  test('lets somebody else log in for the same code', async () => {
    const device = await startDevice();
    const browser = await logIn();
    const page = await browser.get('/device');
    const confirm = await browser.submit(page.form('/device'), { user_code: device.user_code });
    const login = await browser.follow(await browser.submit(confirm.form('/logout')));
    const other = await makePerson(service);
    const again = await browser.follow(await browser.submit(login.form('/login'), { ...other }));
    assert.equal(again.form('/device').fields['user_code'], device.user_code);
    assert.match(again.text, new RegExp(`Logged in as ${other.username}`));
    const switching = await browser.submit(again.form('/logout?request=device'));
    assert.equal(switching.location, '/login?request=device');
  });

  test('puts nothing into its form but what can be a code', async () => {
    const browser = await logIn();
    for (const user_code of ['"><script>', 'BCDF', '%00', 'https://evil.example']) {
      const page = await browser.get(`/device?user_code=${encodeURIComponent(user_code)}`);
      assert.equal(page.status, 200);
      assert.equal(page.form('/device').fields['user_code'], '');
    }
  });

  test('says that a code is unknown, used or mistyped, and after some of them how long to wait', async () => {
    const browser = await logIn(await makePerson(service));
    let form = (await browser.get('/device')).form('/device');
    let refused = 0;
    let reply = await browser.submit(form, { user_code: 'nonsense' });
    while (reply.status === 400) {
      refused += 1;
      assert.ok(refused < 50, 'the limit comes soon');
      assert.match(reply.text, /No device waits with this code/);
      form = reply.form('/device');
      reply = await browser.submit(form, { user_code: 'BCDF-GHJK' });
    }
    assert.ok(refused >= 5);
    assert.equal(reply.status, 429);
    assert.ok(Number(reply.headers['retry-after']) >= 1);
    assert.match(reply.text, /Too many attempts/);
    const device = await startDevice();
    const right = await browser.submit(form, { user_code: device.user_code });
    assert.equal(right.status, 429, 'a right guess is held up too');
  });

  test('counts guesses that come at once', async () => {
    const browser = await logIn(await makePerson(service));
    const form = (await browser.get('/device')).form('/device');
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => browser.submit(form, { user_code: 'BCDF-GHJK' })),
    );
    assert.ok(replies.filter(({ status }) => status === 400).length <= 7);
  });

  test('refuses forms without the token of this session and this code', async () => {
    const [one, two] = [await startDevice(), await startDevice()];
    const browser = await logIn();
    const page = await browser.get('/device');
    assert.equal((await browser.post('/device', { user_code: one.user_code })).status, 403);
    const confirm = async (user_code: string) =>
      (await browser.submit(page.form('/device'), { user_code })).form('/device');
    const [formOne, formTwo] = [await confirm(one.user_code), await confirm(two.user_code)];
    const csrf = formTwo.fields['csrf'] ?? '';
    const swapped = { ...formOne.fields, csrf, decision: 'approve' };
    assert.equal((await browser.post('/device', swapped)).status, 403);
    const stranger = await logIn(await makePerson(service));
    const stolen = { ...formOne.fields, decision: 'approve' };
    assert.equal((await stranger.post('/device', stolen)).status, 403);
    const foreign = await browser.post('/device', stolen, { 'sec-fetch-site': 'cross-site' });
    assert.equal(foreign.status, 403);
    assert.equal((await askForToken(one.device_code)).error, 'authorization_pending');
  });

  test('takes a decision once', async () => {
    const device = await startDevice();
    const browser = await logIn();
    const page = await browser.get('/device');
    const confirm = await browser.submit(page.form('/device'), { user_code: device.user_code });
    await browser.submit(confirm.form('/device'), { decision: 'deny' });
    const second = await browser.submit(confirm.form('/device'), { decision: 'approve' });
    assert.equal(second.status, 400);
    assert.equal((await askForToken(device.device_code)).error, 'access_denied');
  });
});
