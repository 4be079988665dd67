import { type Browser, chromium, type Page } from 'playwright-core';
import { admin } from '../../packages/server/test/harness/authorize-scene.ts';
import { connectDevice } from '../../packages/server/test/harness/person-visits.ts';

/** The reader at a browser: opens an address that a command printed, logs in as the admin and approves. */
export class Person {
  readonly #service: string;
  #browser: Promise<Browser> | undefined;

  constructor(service: string) {
    this.#service = service;
  }

  async approve(address: string, password = admin.password): Promise<void> {
    const reader = { ...admin, password };
    if (new URL(address).pathname === '/device')
      return connectDevice({ url: this.#service }, address, 'approve', reader);
    const context = await (await this.browser()).newContext();
    try {
      const page = await context.newPage();
      await page.goto(address);
      await logIn(page, reader);
      await this.#decide(page);
      // In the implicit flow a page of the application goes on from here.
      await page.waitForLoadState('networkidle');
    } finally {
      await context.close();
    }
  }

  /** What was approved once is not asked again. */
  async #decide(page: Page): Promise<void> {
    const approve = page.getByRole('button', { name: 'Approve' });
    const away = page.waitForURL((url) => url.origin !== this.#service);
    const asked = approve.waitFor().then(
      () => true,
      () => false,
    );
    if (await Promise.race([asked, away.then(() => false)])) await approve.click();
    await away;
  }

  browser(): Promise<Browser> {
    this.#browser ??= chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
    return this.#browser;
  }

  async leave(): Promise<void> {
    await (await this.#browser)?.close();
  }
}

export async function logIn(page: Page, { username, password } = admin): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
