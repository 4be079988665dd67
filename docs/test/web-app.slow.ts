import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import {
  callApi,
  registerClient,
  type TestClient,
} from '../../packages/server/test/harness/authorize-scene.ts';
import { freePort } from '../../packages/server/test/harness/free-port.ts';
import {
  type RunningService,
  startService,
} from '../../packages/server/test/harness/running-service.ts';
import { until } from '../../packages/server/test/harness/until.ts';
import { logIn, Person } from './person.ts';
import { root } from './run-page.ts';

/** examples/web-app in Chromium, as people use it. */
describe('the example of a web app', () => {
  let service: RunningService;
  let client: TestClient;
  let person: Person;
  let app: ChildProcess;
  let home: string;
  let context: BrowserContext;
  let page: Page;
  const name = 'nightly <b>"&"</b>';

  before(async () => {
    service = await startService();
    home = `http://127.0.0.1:${await freePort()}/`;
    const callback = `${home}callback`;
    client = await registerClient(service, { callbackUrl: callback });
    await registerReactor(service, client, name);
    const { key: KEY, secret: SECRET } = client;
    const environment = { ...process.env, SERVICE: service.url, KEY, SECRET, CALLBACK: callback };
    app = spawn(process.execPath, ['examples/web-app/server.mjs'], {
      cwd: root,
      env: environment,
      stdio: 'ignore',
    });
    await until('the app to answer', () =>
      fetch(home).then(
        () => true,
        () => false,
      ),
    );
    person = new Person(service.url);
    context = await (await person.browser()).newContext();
    page = await context.newPage();
  });
  after(async () => {
    await person?.leave();
    app?.kill();
    await service?.dispose();
  });

  const begin = async () => {
    await page.goto(home);
    await page.getByRole('button', { name: 'Log in with reactord' }).click();
  };

  test('says so when the person does not allow it', async () => {
    await begin();
    await logIn(page);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('You did not allow it.').waitFor();
  });

  test('logs the person in and lists the reactors, their names as text', async () => {
    await begin();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Reactors of admin' }).waitFor();
    assert.equal(page.url(), home);
    await page.getByRole('cell', { name, exact: true }).waitFor();
  });

  test('keeps tokens away from the browser', async () => {
    // Cookies know no ports: the service's own is on the same host here.
    const cookies = (await context.cookies(home)).filter((cookie) => cookie.name === 'session');
    assert.deepEqual(
      cookies.map((cookie) => [cookie.httpOnly, cookie.sameSite]),
      [[true, 'Lax']],
    );
    assert.doesNotMatch(await page.content(), /access_token|refresh_token/);
  });

  test('refuses an answer to a login that it has not begun', async () => {
    const reply = await fetch(`${home}callback?code=x&state=y`);
    assert.equal(reply.status, 400);
  });

  test('logs out, and in again without a question', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await begin();
    await page.getByRole('heading', { name: 'Reactors of admin' }).waitFor();
  });

  test('asks for a new login when the access was taken back', async () => {
    await callApi(service, 'DELETE', `/clients/v2/${client.name}`);
    await page.goto(home);
    await page.getByText('Log in again').waitFor();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Log in with reactord' }).waitFor();
  });
});

async function registerReactor(
  service: RunningService,
  { key, secret }: TestClient,
  name: string,
): Promise<void> {
  const token = await fetch(`${service.url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: bearer }: { access_token: string } = JSON.parse(await token.text());
  const made = await fetch(`${service.url}/actors/v2`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}` },
    body: new URLSearchParams({ image: 'reactord/hello', name }),
  });
  assert.equal(made.status, 201, await made.text());
}
