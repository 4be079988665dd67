import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AccessChanges } from '../../src/identity/access-changes.ts';
import { Users } from '../../src/identity/users.ts';
import type { Reactor, ReactorSettings } from '../../src/reactors/reactor.ts';
import { deleteReactor, markReady, markShuttingDown } from '../../src/reactors/reactor-rows.ts';
import { Reactors } from '../../src/reactors/reactors.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet } from '../harness/beside-service.ts';
import { until } from '../harness/until.ts';

const settings: ReactorSettings = {
  description: '',
  image: 'tool:1',
  environment: { A: 'b' },
  stateless: true,
  maxWorkers: 1,
  memoryBytes: null,
  cpus: 0.25,
  timeoutSeconds: 60,
  logSeconds: 60,
  retries: 0,
  token: true,
  hints: [],
  removeWhenIdle: false,
  privileged: false,
  registryCredentials: null,
  link: null,
  webhook: null,
  cronSchedule: null,
  cronOn: false,
  legacy: { type: 'none', queue: 'default', useContainerUid: false },
};
const leaveImage = () => ({ pull: false, askRegistry: false });

/** A store that counts how often something is read. */
function counting(store: Store): { store: Store; reads: () => number } {
  let reads = 0;
  const counted = new Proxy(store, {
    get: (target, name) => {
      if (name === 'read') reads += 1;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store: counted, reads: () => reads };
}

/** What one process on the store has. */
async function openProcess(dataFolder: string) {
  const opened = await openStore({ database: undefined, dataFolder });
  const { store, reads } = counting(opened);
  const changes = new AccessChanges(opened, quiet);
  const reactors = new Reactors({ store, changes, log: quiet });
  changes.start();
  return {
    store: opened,
    reads,
    changes,
    reactors,
    close: async () => {
      changes.stop();
      await opened.close();
    },
  };
}

let folder: string;
let here: Awaited<ReturnType<typeof openProcess>>;
let there: Awaited<ReturnType<typeof openProcess>>;
let owner: { id: string; username: string };

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reactord-memory-'));
  here = await openProcess(folder);
  there = await openProcess(folder);
  owner = await new Users(here.store, here.changes).create({
    username: 'ada',
    password: 'a long enough word',
  });
});
after(async () => {
  await here.close();
  await there.close();
  rmSync(folder, { recursive: true });
});

const register = (): Promise<Reactor> => here.reactors.register(owner, 'x', settings, false);

test('A reactor that is known costs no read', async () => {
  const { id } = await register();
  const first = await here.reactors.byId(id);
  assert.deepEqual(first?.environment, { A: 'b' });
  assert.equal(first?.cpus, 0.25);
  const before = here.reads();
  for (let time = 0; time < 1000; time += 1) assert.equal(await here.reactors.byId(id), first);
  assert.equal(here.reads(), before);
});

test('A change is seen at once by the process that made it, and by others within two seconds', async () => {
  const reactor = await register();
  await here.reactors.byId(reactor.id);
  assert.equal((await there.reactors.byId(reactor.id))?.description, '');
  await here.reactors.replace(reactor, { ...settings, description: 'new' }, leaveImage);
  assert.equal((await here.reactors.byId(reactor.id))?.description, 'new');
  await until(
    'the other process to see the change',
    async () => (await there.reactors.byId(reactor.id))?.description === 'new',
    2_000,
  );
});

test('Who waits for a reactor is told in every process that it is ready, and that it is gone', async () => {
  const { id } = await register();
  const told: string[] = [];
  for (const [where, process] of [
    ['here', here],
    ['there', there],
  ] as const) {
    process.reactors.onReady((ready) => ready === id && told.push(`${where} ready`));
    process.reactors.onRemoved((gone) => gone === id && told.push(`${where} gone`));
  }
  const ready = { id, revision: 1, imageId: 'sha256:1', digest: null, message: '' };
  await here.reactors.commit(id, markReady(ready));
  await until('both to hear that it is ready', () => told.length === 2 && told, 2_000);
  await here.reactors.commit(id, markShuttingDown({ id, now: Date.now() }));
  await here.reactors.commit(id, deleteReactor({ id }));
  const gone = () => new Set(told.slice(2));
  await until('both to hear that it is gone', () => gone().size === 2, 2_000);
  assert.deepEqual(told.slice(0, 2).toSorted(), ['here ready', 'there ready']);
  // More than once where the look at the first change found the second done already.
  assert.deepEqual([...gone()].toSorted(), ['here gone', 'there gone']);
  assert.equal(await there.reactors.byId(id), undefined);
});

test('What comes of an older pull does not count', async () => {
  const reactor = await register();
  const { id } = reactor;
  await here.reactors.replace(reactor, settings, () => ({ pull: true, askRegistry: true }));
  const old = { id, revision: 1, imageId: 'sha256:old', digest: null, message: '' };
  await here.reactors.commit(id, markReady(old));
  assert.equal((await here.reactors.byId(id))?.status, 'SUBMITTED');
});
