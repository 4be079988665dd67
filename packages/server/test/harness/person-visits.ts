import assert from 'node:assert/strict';
import { admin, type Person } from './authorize-scene.ts';
import { Browser, type Reply } from './browser.ts';
import type { RunningService } from './running-service.ts';

/** What a person does with the addresses that an application sends them to. */

type Decision = 'approve' | 'deny';

/** Opens an authorization address, logs in, decides where asked, and returns the address that leads back to the application. */
export async function authorize(
  service: Pick<RunningService, 'url'>,
  address: string | URL,
  decision: Decision = 'approve',
  person: Person = admin,
): Promise<URL> {
  const browser = new Browser(service.url);
  try {
    const first = await browser.get(pathOf(service, address));
    const last = await walk(browser, first, decision, person);
    assert.ok(last.location, `a redirect to the application, not ${last.status}: ${last.text}`);
    return new URL(last.location);
  } finally {
    browser.close();
  }
}

/** Opens the address that a device shows, logs in, compares the code and decides. */
export async function connectDevice(
  service: Pick<RunningService, 'url'>,
  address: string,
  decision: Decision = 'approve',
  person: Person = admin,
): Promise<void> {
  const browser = new Browser(service.url);
  try {
    const login = await browser.follow(await browser.get(pathOf(service, address)));
    const page = await browser.follow(await browser.submit(login.form('/login'), { ...person }));
    const confirm = await browser.submit(page.form('/device'));
    const done = await browser.submit(confirm.form('/device'), { decision });
    assert.equal(done.status, 303, done.text);
  } finally {
    browser.close();
  }
}

function pathOf(service: Pick<RunningService, 'url'>, address: string | URL): string {
  const text = String(address);
  assert.ok(text.startsWith(`${service.url}/`), `an address of the service, not ${text}`);
  return text.slice(service.url.length);
}

async function walk(
  browser: Browser,
  first: Reply,
  decision: Decision,
  person: Person,
): Promise<Reply> {
  const isOwnPath = (reply: Reply) => reply.location?.startsWith('/') === true;
  // A request with a fault leads straight back to the application.
  if (!isOwnPath(first)) return first;
  const login = await browser.follow(first);
  const loggedIn = await browser.submit(login.form('/login'), { ...person });
  const consent = isOwnPath(loggedIn) ? await browser.follow(loggedIn) : loggedIn;
  return consent.status === 200
    ? await browser.submit(consent.form('/consent'), { decision })
    : consent;
}
