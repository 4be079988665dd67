import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../packages/server/test/harness/free-port.ts';
import {
  adminPassword,
  clearEngine,
  startService,
} from '../../packages/server/test/harness/running-service.ts';
import { createDatabase } from '../../setup/postgres.ts';
import type { Page } from './page.ts';
import { Person } from './person.ts';
import { root, type Surroundings } from './run-page.ts';

/** The addresses of the pages: the service, an application of one's own, the place where a login comes back. */
const pagePorts = [8080, 3000, 4000, 9090];

/**
 * What a page finds: a service on a data folder of its own, unless it starts one itself, the admin's password in
 * PASSWORD, and two PostgreSQL databases in DATABASE and EMPTY_DATABASE where it asks for them.
 */
export async function prepare(page: Page): Promise<Surroundings & AsyncDisposable> {
  await using made = new AsyncDisposableStack();
  const addresses = new Map<string, string>();
  for (const port of pagePorts) {
    const free = await freePort();
    addresses.set(`127.0.0.1:${port}`, `127.0.0.1:${free}`).set(`--port ${port}`, `--port ${free}`);
  }
  const service = `http://${addresses.get('127.0.0.1:8080')}`;
  const data = mkdtempSync(join(tmpdir(), 'reactord-page-data-'));
  made.defer(async () => {
    await clearEngine(data);
    rmSync(data, { recursive: true, force: true });
  });
  const { REACTORD_TEST_ENGINE: engine, REACTORD_TEST_POSTGRES: postgres } = process.env;
  const settings = {
    REACTORD_DATA: data,
    REACTORD_PORT: new URL(service).port,
    ...(!startsItself(page) && { REACTORD_ADMIN_PASSWORD: adminPassword }),
    ...(engine && { REACTORD_ENGINE: engine }),
  };
  const environment: NodeJS.ProcessEnv = {
    ...machineEnvironment(),
    ...settings,
    PASSWORD: adminPassword,
  };
  if (page.wants.has('needs PostgreSQL')) {
    if (!postgres) throw new Error('There is no PostgreSQL: run it by npm test.');
    for (const name of ['DATABASE', 'EMPTY_DATABASE']) {
      const database = await createDatabase(postgres);
      made.defer(() => database.drop());
      environment[name] = database.url;
    }
  }
  if (!startsItself(page) && !changesMachine(page)) {
    const running = await startService({ data, environment: settings });
    made.defer(running.dispose);
  }
  const person = new Person(service);
  made.defer(() => person.leave());
  const stack = made.move();
  return {
    environment,
    addresses,
    service,
    approve: (address, password) => person.approve(address, password),
    ...(changesMachine(page) && {
      within: ['unshare', '--mount', 'sh', join(root, 'docs/test/own-folders.sh')],
    }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Its first service is one that it starts. */
const startsItself = (page: Page): boolean =>
  page.steps.some(({ staysUntil, text }) => staysUntil !== undefined && /npm start$/.test(text));

/** It writes into folders of the machine, and sees copies of them instead. */
const changesMachine = (page: Page): boolean => page.wants.has('changes the machine');

/** Neither npm's variables nor the settings of whoever runs the tests. */
function machineEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_TEST|REACTORD_|XDG_)/i.test(name),
  );
  return Object.fromEntries(kept);
}
