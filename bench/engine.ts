import { DockerClient } from '../packages/server/src/engines/docker/docker-client.ts';
import { DockerEngine } from '../packages/server/src/engines/docker/docker-engine.ts';
import { newId } from '../packages/server/src/ids.ts';
import { makeTestImage } from '../packages/server/test/harness/images.ts';
import { runBare } from './bare-container.ts';

/**
 * One cold execution by the driver (attached, hardened, counted), next to the barest that the Docker API allows
 * (create, wait, start, remove on Docker's default bridge), one after the other in the same run. Other work on the
 * machine slows both.
 */

const rounds = Number(process.argv[2] ?? 20);
const image = await makeTestImage();
const owner = `reactord-bench-${newId()}`;
const client = new DockerClient(undefined, process.env);
const engine = new DockerEngine({
  address: undefined,
  environment: process.env,
  owner,
  network: owner,
});

async function bare(): Promise<number> {
  const began = performance.now();
  await runBare(client, { Image: image.reference, Cmd: ['true'] });
  return performance.now() - began;
}

async function driven(group: string | undefined): Promise<number> {
  const began = performance.now();
  const { id } = await engine.create({
    name: `bench-${newId()}`,
    image: image.reference,
    command: ['true'],
    environment: {},
    labels: {},
    group,
    limits: { memoryBytes: 64 * 1024 * 1024, cpus: 1, processes: 32 },
  });
  const ended = engine.ended(id);
  const output = await engine.attach(id);
  await engine.start(id);
  for await (const _ of output);
  await ended;
  await engine.usage(id);
  await engine.remove(id);
  return performance.now() - began;
}

function tell(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): string =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0).padStart(5);
  console.log(`${name.padEnd(46)} median ${at(0.5)} ms   least ${at(0)}   p90 ${at(0.9)}`);
}

try {
  await engine.prepare();
  await driven('warm-up');
  await bare();
  const times: Record<'bare' | 'same' | 'first', number[]> = { bare: [], same: [], first: [] };
  for (let round = 0; round < rounds; round++) {
    times.bare.push(await bare());
    times.same.push(await driven('one group'));
    // What a group's first execution meets: a place that nobody has used, and that is ready.
    await engine.prepare();
    times.first.push(await driven(`group ${round}`));
  }
  console.log(await engine.ping());
  tell('bare create, start, wait, remove on the bridge', times.bare);
  tell("driver, a group's later executions", times.same);
  tell("driver, a group's first execution", times.first);
} finally {
  await engine.removeLeftovers({});
  await engine.close();
  await image.remove();
  client.close();
}
