import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DockerClient } from '../packages/server/src/engines/docker/docker-client.ts';
import { admit } from '../packages/server/src/executions/admit.ts';
import { claim, releaseClaim } from '../packages/server/src/executions/claim.ts';
import { newId } from '../packages/server/src/ids.ts';
import { openStore } from '../packages/server/src/store/open.ts';
import { once as statement } from '../packages/server/src/store/statement.ts';
import type { Store } from '../packages/server/src/store/store.ts';
import { openScene } from '../packages/server/test/harness/execution-scene.ts';
import { runBare } from './bare-container.ts';
import type { BenchResult, BenchRow } from './bench-result.ts';
import { answerOf, forkBeside } from './child.ts';
import type { PostLoad, PostResult } from './reactors-load.ts';
import { beside } from './rounds.ts';

const rounds = 5;
/** Many short ones: what else the machine does comes and goes within seconds, and should meet both sides. */
const postingRounds = 41;
const seconds = 1;
/** As long as the compiler still finds something to improve, on either side. */
const warmUpSeconds = 8;
const connections = 32;
const few = 1_000;
const many = 1_000_000;
const steps = 2_000;
const runs = 15;

/** Messages accepted, claimed and run, each beside its peer. */
export async function run(): Promise<BenchResult> {
  return {
    title: `Reactors: a second, medians of ${rounds} rounds (posting over HTTP: ${postingRounds}; ${runs} executions)`,
    rows: [await benchPosting(), ...(await benchQueue()), await benchRunning()],
  };
}

/** Messages accepted over HTTP, durable, beside a route that keeps nothing. */
async function benchPosting(): Promise<BenchRow> {
  // The peer writes no line per request, so neither do we.
  const environment = { REACTORD_LOG_LEVEL: 'warn' };
  const scene = await openScene({ unheard: true, environment });
  const children = [forkBeside('reactors-load.ts'), forkBeside('reactors-peer.ts')];
  try {
    const [load, peer] = children;
    if (load === undefined || peer === undefined) throw new Error('a process did not start');
    const peerUrl = await answerOf<string>(peer);
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
      const { rate, failures } = await answerOf<PostResult>(load);
      if (failures > 0) throw new Error(`${failures} messages were not accepted`);
      return rate;
    };
    await drive({ ...wish(scene.service.url), seconds: warmUpSeconds });
    await drive({ ...wish(peerUrl), seconds: warmUpSeconds });
    return await beside(
      {
        what: `messages accepted, durable, ${connections} connections`,
        peer: 'a bare route that keeps nothing',
        bar: 0.4,
        ours: () => drive(wish(scene.service.url)),
        theirs: () => drive(wish(peerUrl)),
      },
      postingRounds,
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
    const sides = (verb: string, work: (store: Store, reactorId: string) => Promise<number>) => ({
      what: `${verb}, ${many.toLocaleString('en')} waiting`,
      peer: `${few.toLocaleString('en')} waiting`,
      bar: 1 / 1.3,
      ours: () => work(store, large),
      theirs: () => work(store, small),
    });
    return [
      await beside(sides('post', postSome), rounds),
      await beside(sides('claim', claimSome), rounds),
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

/** One cold execution after the other, from the message to its end, beside the barest run by the engine's API. */
async function benchRunning(): Promise<BenchRow> {
  const scene = await openScene({ unheard: true });
  const client = new DockerClient(undefined, process.env);
  try {
    const { admin, image } = scene;
    const reactor = await admin.register({
      image: image.reference,
      default_environment: { RUN: 'true' },
      warm: 0,
    });
    const bare = () => runBare(client, { Image: image.reference, Env: ['RUN=true'] });
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
      {
        what: 'one cold execution, message to end',
        peer: 'create, start, wait, remove by the API',
        bar: 1 / 1.15,
        ours: () => rate(one),
        theirs: () => rate(bare),
      },
      runs,
    );
  } finally {
    client.close();
    await scene.dispose();
  }
}
