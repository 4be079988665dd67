import { describeAddress } from '../packages/server/src/engines/docker/address.ts';
import { SetupError } from './debian.ts';
import { provideEngine } from './engine.ts';
import { Bases } from './images/bases.ts';
import { buildSample } from './images/build.ts';
import { EngineImages } from './images/engine-images.ts';
import { readSamples, type Sample } from './images/sample.ts';
import { say } from './say.ts';

/**
 * npm run samples: builds the images of `images/` on the engine of this machine. Words narrow it to some of them;
 * `--local` makes the bases from Debian's packages without asking a registry.
 */

async function main(args: readonly string[]): Promise<number> {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const strange = args.find((arg) => arg.startsWith('-') && arg !== '--local');
  if (strange !== undefined) {
    say(`there is no option ${strange}; there is --local.`);
    return 2;
  }
  const samples = readSamples();
  const unknown = words.find((word) => !samples.some(({ folder }) => folder === word));
  if (unknown !== undefined) {
    say(
      `there is no sample ${unknown}; there are ${samples.map((each) => each.folder).join(', ')}.`,
    );
    return 2;
  }
  const engine = new EngineImages(describeAddress(await provideEngine(undefined)));
  try {
    const bases = new Bases(engine, { local: args.includes('--local') });
    const chosen = samples.filter(({ folder }) => words.length === 0 || words.includes(folder));
    return await buildAll(engine, bases, chosen);
  } finally {
    engine.close();
  }
}

/** One that fails does not keep the others from being built. */
async function buildAll(
  engine: EngineImages,
  bases: Bases,
  samples: readonly Sample[],
): Promise<number> {
  let failed = 0;
  for (const sample of samples) {
    try {
      const outcome = await buildSample(engine, bases, sample);
      process.stdout.write(`${sample.name.padEnd(24)}${outcome}\n`);
    } catch (error) {
      failed += 1;
      process.stdout.write(`${sample.name.padEnd(24)}failed\n`);
      say(error instanceof Error ? error.message : String(error));
    }
  }
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof SetupError || error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
