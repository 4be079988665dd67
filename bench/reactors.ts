import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DockerEngine } from '../packages/server/src/engines/docker/docker-engine.ts';
import { admit } from '../packages/server/src/executions/admit.ts';
import { claim, releaseClaim } from '../packages/server/src/executions/claim.ts';
import { newId } from '../packages/server/src/ids.ts';
import { openStore } from '../packages/server/src/store/open.ts';
import { once as statement } from '../packages/server/src/store/statement.ts';
import type { Store } from '../packages/server/src/store/store.ts';
import { openScene } from '../packages/server/test/harness/execution-scene.ts';
import type { BenchResult, BenchRow } from './bench-result.ts';
import type { PostLoad, PostResult } from './reactors-load.ts';

const rounds = 5;
const seconds = 4;
const connections = 32;
const few = 1_000;
const many = 1_000_000;
const steps = 2_000;
const runs = 15;

/** Messages accepted, claimed and run, each beside its peer. */
export async function run(): Promise<BenchResult> {
  return {
    title: `Reactors: a second, medians of ${rounds} rounds (${runs} executions)`,
    rows: [await benchPosting(), ...(await benchQueue()), await benchRunning()],
  };
}

/** Messages accepted over HTTP, durable, beside a route that keeps nothing. */
async function benchPosting(): Promise<BenchRow> {
  const scene = await openScene({ unheard: true });
  const children = [forkBeside('reactors-load.ts'), forkBeside('reactors-peer.ts')];
  try {
    const [load, peer] = children;
    if (load === undefined || peer === undefined) throw new Error('a process did not start');
    const [peerUrl] = await once(peer, 'message');
    // An image that cannot be had: messages are accepted, and nothing runs beside the measurement.
    const reactor = await scene.admin.registerOnly({ image: 'localhost:1/none:1' });
    const wish = (url: string): PostLoad => ({
      url: `${url}/actors/v2/${reactor}/messages`,
      seconds,
      connections,
      headers: {
        authorization: `Bearer ${scene.admin.token}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: `message=${'x'.repeat(180)}`,
    });
    const drive = async (wanted: PostLoad): Promise<number> => {
      load.send(wanted);
      const [result]: PostResult[] = await once(load, 'message');
      if (result === undefined || result.failures > 0)
        throw new Error(`${result?.failures} messages were not accepted`);
      return result.rate;
    };
    await drive({ ...wish(scene.service.url), seconds: 2 });
    await drive({ ...wish(peerUrl), seconds: 2 });
    return await beside(
      `messages accepted, durable, ${connections} connections`,
      'a bare route that keeps nothing',
      0.4,
      () => drive(wish(scene.service.url)),
      () => drive(wish(peerUrl)),
    );
  } finally {
    for (const child of children) child.kill();
    await scene.dispose();
  }
}

/** Posting and claiming where a million wait, beside a thousand. */
async function benchQueue(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-bench-'));
  const store = await openStore({ database: undefined, dataFolder: folder });
  try {
    const [small, large] = [await makeReactor(store), await makeReactor(store)];
    await fill(store, small, few);
    await fill(store, large, many);
    for (const reactor of [small, large]) {
      await postSome(store, reactor);
      await claimSome(store, reactor);
    }
    const bar = 1 / 1.3;
    const peer = `${few.toLocaleString('en')} waiting`;
    const what = (verb: string) => `${verb}, ${many.toLocaleString('en')} waiting`;
    return [
      await beside(
        what('post'),
        peer,
        bar,
        () => postSome(store, large),
        () => postSome(store, small),
      ),
      await beside(
        what('claim'),
        peer,
        bar,
        () => claimSome(store, large),
        () => claimSome(store, small),
      ),
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

async function makeReactor(store: Store): Promise<string> {
  const id = newId();
  await store.write(
    statement((db) =>
      db.insertInto('reactors').values({
        id,
        owner_id: 'bench',
        image: 'bench',
        stateless: 1,
        max_workers: 1,
        timeout: 60,
        log_ex: 60,
        token: 1,
        status: 'READY',
        revision: 1,
        created_at: 0,
        updated_at: 0,
      }),
    ),
  );
  return id;
}

const executor = { userId: 'bench', username: 'bench', clientId: null };
const message = { contentType: 'str', body: Buffer.alloc(180, 'x') } as const;

async function fill(store: Store, reactorId: string, count: number): Promise<void> {
  for (let made = 0; made < count; made += 5_000) {
    const some = Math.min(5_000, count - made);
    await Promise.all(
      Array.from({ length: some }, () =>
        admit(store, { reactorId, executor, message, environment: {} }),
      ),
    );
  }
}

async function postSome(store: Store, reactorId: string): Promise<number> {
  const start = performance.now();
  for (let made = 0; made < steps; made += 1)
    await admit(store, { reactorId, executor, message, environment: {} });
  return (steps * 1000) / (performance.now() - start);
}

/** Each claim is given back, so that the next finds as many waiting. */
async function claimSome(store: Store, reactorId: string): Promise<number> {
  let spent = 0;
  for (let made = 0; made < steps; made += 1) {
    const start = performance.now();
    const claimed = await claim(store, reactorId, 'bench');
    spent += performance.now() - start;
    if (claimed === undefined) throw new Error('nothing was claimed');
    await store.write(releaseClaim({ id: claimed.id, workerId: claimed.workerId ?? '' }));
  }
  return (steps * 1000) / spent;
}

/** One cold execution after the other, from the message to its end, beside the engine's bare calls. */
async function benchRunning(): Promise<BenchRow> {
  const scene = await openScene({ unheard: true });
  const engine = new DockerEngine({
    address: undefined,
    environment: process.env,
    owner: `reactord-bench-${newId()}`,
  });
  try {
    const { admin, image } = scene;
    const reactor = await admin.register({
      image: image.reference,
      default_environment: { RUN: 'true' },
    });
    const bare = async (): Promise<void> => {
      const { id } = await engine.create({
        name: `reactord-bench-${newId()}`,
        image: image.reference,
        environment: { RUN: 'true' },
        labels: {},
        limits: { memoryBytes: 512 * 1024 ** 2, cpus: 1, processes: 256 },
        group: 'bench',
      });
      const ended = engine.ended(id);
      await engine.start(id);
      await ended;
      await engine.remove(id);
    };
    const one = async (): Promise<void> => {
      const execution = await admin.send(reactor);
      // Often enough to see the end when it comes, rarely enough not to take the engine's time.
      while ((await admin.record(reactor, execution)).status !== 'COMPLETE') await pause(8);
    };
    const rate = async (work: () => Promise<void>): Promise<number> => {
      const start = performance.now();
      await work();
      return 1000 / (performance.now() - start);
    };
    await one();
    await bare();
    return await beside(
      'one cold execution, message to end',
      'create, start, wait, remove',
      1 / 1.15,
      () => rate(one),
      () => rate(bare),
      runs,
    );
  } finally {
    await engine.removeLeftovers({});
    await engine.close();
    await scene.dispose();
  }
}

async function beside(
  what: string,
  peer: string,
  bar: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
  times = rounds,
): Promise<BenchRow> {
  const rates: number[] = [];
  const peerRates: number[] = [];
  for (let round = 0; round < times; round += 1) {
    rates.push(await ours());
    peerRates.push(await theirs());
  }
  return {
    what,
    rate: median(rates),
    peer,
    peerRate: median(peerRates),
    ratio: median(rates.map((rate, round) => rate / (peerRates[round] ?? Number.NaN))),
    bar,
  };
}

function forkBeside(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - ((sorted.length + 1) % 2)], sorted[middle]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
