import { existsSync } from 'node:fs';
import type { EngineAddress } from '../packages/server/src/engines/docker/address.ts';
import { describeAddress } from '../packages/server/src/engines/docker/address.ts';
import { isAnswering } from '../packages/server/src/engines/docker/find.ts';
import { Bases } from './images/bases.ts';
import { buildSample } from './images/build.ts';
import { busybox } from './images/debian-bases.ts';
import { EngineImages } from './images/engine-images.ts';
import { readSample } from './images/sample.ts';
import { say } from './say.ts';

const limitMs = 20_000;

/**
 * Gives the engine the image reactord/hello, so that whoever starts the service has something to try it with. Done from
 * what is at hand, in a second; where that does not work, the service is none the worse for it.
 */
export async function offerHello(address: EngineAddress): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  const building = buildHello(address).catch((error: unknown) => {
    say(
      `reactord/hello, a sample to try, could not be built (${error instanceof Error ? error.message : String(error)}).`,
    );
  });
  await Promise.race([building, late]);
  clearTimeout(timer);
}

async function buildHello(address: EngineAddress): Promise<void> {
  if (!(await isAnswering(address))) return;
  const engine = new EngineImages(describeAddress(address));
  try {
    const hello = readSample('hello');
    if ((await engine.find(hello.name)) !== undefined) return;
    // A registry might take long, and so might an installation: `npm run samples` has time for both.
    if (!existsSync(busybox) && (await engine.find(hello.publicBase)) === undefined) return;
    await buildSample(engine, new Bases(engine, { local: true }), hello);
  } finally {
    engine.close();
  }
}
