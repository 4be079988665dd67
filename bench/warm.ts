import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DockerEngine } from '../packages/server/src/engines/docker/docker-engine.ts';
import { newId } from '../packages/server/src/ids.ts';
import {
  openScene,
  type Scene,
  type Sender,
} from '../packages/server/test/harness/execution-scene.ts';
import { withSpares } from '../packages/server/test/harness/running-service.ts';
import { until } from '../packages/server/test/harness/until.ts';
import type { BenchResult } from './bench-result.ts';
import { beside } from './rounds.ts';

const rounds = 15;
const program = 'echo begun';

/** How soon the program in a container answers a message with its first byte, beside `docker run` of the same image. */
export async function run(): Promise<BenchResult> {
  const scene = await openScene({
    unheard: true,
    environment: { ...withSpares, REACTORD_LOG_LEVEL: 'warn' },
  });
  const spares = await openSpares(scene);
  try {
    const post = await openPosting(scene);
    const peer = 'docker run, until its first byte';
    const theirs = (): Promise<number> => dockerRun(scene.image.reference);
    await post();
    await theirs();
    return {
      title: `Spare containers: how often a second one could begin after the other, medians of ${rounds} rounds`,
      rows: [
        await beside(
          { what: 'message posted, until its first byte', peer, bar: 20, ours: post, theirs },
          rounds,
        ),
        await beside(
          {
            what: 'environment handed over, until its first byte',
            peer,
            bar: undefined,
            ours: spares.begin,
            theirs,
          },
          rounds,
        ),
      ],
    };
  } finally {
    await spares.close();
    await scene.dispose();
  }
}

/** With a spare that is ready, as a reactor has it whose messages come often. */
async function openPosting({ admin, image }: Scene): Promise<() => Promise<number>> {
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: program },
    warm: 1,
  });
  await admin.call('POST', `/${id}/workers`, {
    body: JSON.stringify({ num: 1 }),
    type: 'application/json',
  });
  return async () => {
    await until('a spare to be ready', async () => {
      const [worker] = (await admin.call('GET', `/${id}/workers`)).json().result;
      return worker.status === 'READY' && worker.cid !== null;
    });
    // The container before it is still being removed.
    await pause(500);
    const began = Date.now();
    const execution = await admin.send(id);
    await admin.ended(id, execution);
    return 1000 / ((await firstByteAt(admin, id, execution)) - began);
  };
}

/** In milliseconds since the epoch, as the log has it: when the service had it in its hands. */
async function firstByteAt(admin: Sender, reactor: string, execution: string): Promise<number> {
  const path = `/${reactor}/executions/${execution}/logs`;
  const { text } = await admin.call('GET', path, { query: '?follow=true' });
  const event = /^data: (\{"stream".*)$/m.exec(text)?.[1];
  return Date.parse(JSON.parse(event ?? '{}').time);
}

async function dockerRun(image: string): Promise<number> {
  await pause(500);
  const began = performance.now();
  const child = spawn('docker', ['run', '--rm', '--env', `RUN=${program}`, image]);
  await once(child.stdout, 'data');
  const rate = 1000 / (performance.now() - began);
  if (child.exitCode === null) await once(child, 'exit');
  return rate;
}

/** By the driver alone. */
async function openSpares({ image }: Scene) {
  const owner = `reactord-bench-${newId()}`;
  const folder = mkdtempSync(join(tmpdir(), 'reactord-bench-'));
  const engine = new DockerEngine({
    address: undefined,
    environment: process.env,
    owner,
    network: owner,
    programs: folder,
  });
  return {
    begin: async (): Promise<number> => {
      const spare = await engine.spare({
        name: `bench-${newId()}`,
        image: image.reference,
        labels: {},
        group: 'bench',
        limits: { memoryBytes: 64 * 1024 * 1024, cpus: 1, processes: 32 },
      });
      if (spare === undefined) throw new Error('this engine has no spares');
      await pause(500);
      const began = performance.now();
      let rate = 0;
      for await (const _ of await spare.begin({ RUN: program }))
        rate ||= 1000 / (performance.now() - began);
      await engine.remove(spare.id);
      return rate;
    },
    close: async (): Promise<void> => {
      await engine.removeLeftovers({});
      await engine.close();
      rmSync(folder, { recursive: true });
    },
  };
}
