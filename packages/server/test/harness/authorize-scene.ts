import assert from 'node:assert/strict';
import { Browser, type Reply } from './browser.ts';
import { adminPassword, type RunningService } from './running-service.ts';

/** What the tests of /authorize and its pages have in common: a client, and a person in a browser. */

export const callback = 'https://app.example.org/cb';

export interface TestClient {
  readonly name: string;
  readonly key: string;
  readonly secret: string;
}

export interface Person {
  readonly username: string;
  readonly password: string;
}

export const admin: Person = { username: 'admin', password: adminPassword };

const basic = ({ username, password }: Person): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Calls the API as the admin, or as whoever is named. */
export async function callApi(
  service: Pick<RunningService, 'url'>,
  method: string,
  path: string,
  body?: object,
  as: Person = admin,
) {
  const reply = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: basic(as),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

let clients = 0;

export async function registerClient(
  service: Pick<RunningService, 'url'>,
  fields: object = {},
): Promise<TestClient> {
  clients += 1;
  const name = `app-${clients}`;
  const body = { clientName: name, callbackUrl: callback, ...fields };
  const { key, secret } = await callApi(service, 'POST', '/clients/v2', body);
  return { name, key, secret };
}

/** The address of an authorization request; a parameter that is undefined is left out. */
export function authorizePath(
  client: Pick<TestClient, 'key'>,
  parameters: Readonly<Record<string, string | undefined>> = {},
): string {
  const all = {
    response_type: 'code',
    client_id: client.key,
    redirect_uri: callback,
    ...parameters,
  };
  const pairs = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
  );
  return `/authorize?${pairs.join('&')}`;
}

/** Opens the address and logs in; returns the page or redirect that follows. */
export async function openAndLogIn(
  browser: Browser,
  path: string,
  person: Person = admin,
): Promise<Reply> {
  const login = await browser.follow(await browser.get(path));
  const after = await browser.submit(login.form('/login'), {
    username: person.username,
    password: person.password,
  });
  assert.equal(after.status, 303, after.html);
  return await browser.follow(after);
}

/** Opens the address in a browser that is logged in already, up to the consent page. */
export async function openConsent(browser: Browser, path: string): Promise<Reply> {
  return await browser.follow(await browser.get(path));
}

export const decide = (
  browser: Browser,
  consent: Reply,
  decision: 'approve' | 'deny',
): Promise<Reply> => browser.submit(consent.form('/consent'), { decision });

/** A browser whose person has logged in. */
export async function loggedInBrowser(
  service: Pick<RunningService, 'url'>,
  person: Person = admin,
): Promise<Browser> {
  const browser = new Browser(service.url);
  const login = await browser.get('/login');
  const after = await browser.submit(login.form('/login'), {
    username: person.username,
    password: person.password,
  });
  assert.equal(after.location, '/account/applications', after.html);
  return browser;
}

/** An access token of the person, had through the implicit flow of the client. */
export async function accessToken(
  service: Pick<RunningService, 'url'>,
  client: TestClient,
  person: Person = admin,
): Promise<string> {
  const browser = new Browser(service.url);
  const path = authorizePath(client, { response_type: 'token', scope: 'PRODUCTION' });
  const consent = await openAndLogIn(browser, path, person);
  const approved = consent.status === 200 ? await decide(browser, consent, 'approve') : consent;
  browser.close();
  const token = answerOf(approved).fragment?.['access_token'];
  assert.ok(token, approved.html);
  return token;
}

let people = 0;

/** A new user, made by the admin. */
export async function makePerson(service: Pick<RunningService, 'url'>): Promise<Person> {
  people += 1;
  const person = { username: `person-${people}`, password: `password of ${people}` };
  await callAsAdmin(service, 'POST', '/profiles/v2', { ...person, email: 'p@example.org' });
  return person;
}

/** Calls the profiles area, which takes tokens only. */
export async function callAsAdmin(
  service: Pick<RunningService, 'url'>,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const token = await accessToken(service, await registerClient(service));
  const reply = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${await reply.text()}`);
}

/** The parameters in the query and in the fragment of a redirect. */
export function answerOf(reply: Pick<Reply, 'location'>) {
  const [beforeFragment = '', fragment] = (reply.location ?? '').split('#');
  const [address = '', query] = beforeFragment.split('?');
  return {
    address,
    query: Object.fromEntries(new URLSearchParams(query)),
    fragment:
      fragment === undefined ? undefined : Object.fromEntries(new URLSearchParams(fragment)),
  };
}
