import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { EngineUnavailable } from '../../src/engines/engine.ts';
import { makeTestImage, type TestImage } from '../harness/images.ts';
import { type OwnDockerd, obstacleToOwnDockerd, startOwnDockerd } from '../harness/own-dockerd.ts';
import { collect, specOf, startUntil } from './conformance/subject.ts';

const skip = obstacleToOwnDockerd() ?? false;

interface Opened {
  readonly dockerd: OwnDockerd;
  readonly engine: DockerEngine;
  readonly image: TestImage;
}

async function open(
  t: { after(end: () => Promise<void>): void },
  liveRestore: boolean,
): Promise<Opened> {
  const dockerd = await startOwnDockerd({ liveRestore });
  const image = await makeTestImage(dockerd.address);
  const engine = new DockerEngine({
    address: dockerd.address,
    environment: process.env,
    owner: 'restarted',
  });
  t.after(async () => {
    await engine.removeLeftovers({});
    await engine.close();
    await dockerd.dispose();
  });
  return { dockerd, engine, image };
}

describe('a Docker daemon that is restarted', { skip }, () => {
  test('its containers end with it; their ends and outputs are known, and new ones run', async (t) => {
    const { dockerd, engine, image } = await open(t, false);
    const subject = { image: image.reference };
    const waiting = await engine.create(specOf(subject, 'echo late'));
    const running = await startUntil(engine, specOf(subject, 'seq 1 50; echo up; sleep 600'), 'up');
    const ended = engine.ended(running.id);
    const rest = collect(running.output).catch((error: unknown) => error);
    await dockerd.stop();
    await assert.rejects(engine.list({}), EngineUnavailable);
    await dockerd.start();

    assert.equal((await ended).exitCode, 143);
    // Ended with the container, or broken off with the daemon, as it happened.
    const broken = await rest;
    assert.ok(!(broken instanceof Error) || broken instanceof EngineUnavailable, String(broken));
    const numbers = Array.from({ length: 50 }, (_, at) => `${at + 1}\n`).join('');
    const replayed = await collect(await engine.replay(running.id));
    assert.equal(replayed.stdout.toString(), `${numbers}up\n`);

    // Made before, in a network place that ended with the daemon.
    const late = collect(await engine.attach(waiting.id));
    await engine.start(waiting.id);
    assert.equal((await late).stdout.toString(), 'late\n');

    const { id } = await engine.create(specOf(subject, 'echo new'));
    const fresh = collect(await engine.attach(id));
    await engine.start(id);
    assert.equal((await fresh).stdout.toString(), 'new\n');
  });

  test('containers that live through a crash of it are followed to their end', async (t) => {
    const { dockerd, engine, image } = await open(t, true);
    const script =
      'seq 1 50; echo up; while [ ! -e /go ]; do sleep 0.1; done; seq 1 50; printf end; exit 7';
    const { id, output } = await startUntil(
      engine,
      specOf({ image: image.reference }, script),
      'up',
    );
    const ended = engine.ended(id);
    const rest = assert.rejects(collect(output), EngineUnavailable);
    await dockerd.kill();
    await dockerd.start();
    await engine.handOver(id, [{ path: '/go', mode: 0o644, content: Buffer.from('') }]);
    assert.equal((await ended).exitCode, 7);
    await rest;
    const numbers = Array.from({ length: 50 }, (_, at) => `${at + 1}\n`).join('');
    const { stdout } = await collect(await engine.replay(id));
    assert.equal(stdout.toString(), `${numbers}up\n${numbers}end`);
  });

  test('of an engine whose control groups and bridge are not at hand, samples are told as what they are', async (t) => {
    const { engine, image } = await open(t, false);
    // Its bridge is in another network namespace, as that of an engine on another machine.
    assert.equal(await engine.gatewayAddress(), undefined);
    const script = 'echo up; timeout 4 sh -c "while :; do :; done"; true';
    const { id } = await startUntil(engine, specOf({ image: image.reference }, script), 'up');
    await engine.ended(id);
    const usage = await engine.usage(id);
    assert.equal(usage?.exact, false);
    assert.ok(usage.cpu > 0.1e9 && usage.cpu < 5e9, `${usage.cpu} ns`);
  });
});
