import type { DockerClient } from './docker-client.ts';
import type { Facts } from './facts.ts';
import { DockerRefusal, isRefusal } from './failures.ts';
import { holderProgram } from './holder-program.ts';
import { jsonLines } from './json-lines.ts';
import { PullLine, read } from './shapes.ts';
import { tarOf } from './tar.ts';

/** Raised whenever the program changes. */
const version = 2;
const repository = 'reactord/holder';
export const holderImage = `${repository}:${version}`;
const holderCommand = '/hold';

/** Gives the engine the image of the network holders, without any registry. False where there is none for its processor. */
export async function provideHolderImage(client: DockerClient, facts: Facts): Promise<boolean> {
  const program = holderProgram((await facts.get()).architecture);
  if (program === undefined) return false;
  if (await isPresent(client)) return true;
  const response = await client.open('POST', '/images/create', {
    query: {
      fromSrc: '-',
      repo: repository,
      tag: version,
      message: 'Holds a network for containers that come and go, and what they send',
      changes: `CMD ["${holderCommand}"]`,
    },
    upload: tarOf([{ path: holderCommand, mode: 0o755, content: program }]),
  });
  for await (const line of jsonLines(response)) {
    const { error } = read(PullLine, line, 'an import');
    if (error !== undefined) throw new DockerRefusal(500, error);
  }
  if (await isPresent(client)) return true;
  // Podman leaves the tag out.
  await client.call('POST', `/images/${repository}:latest/tag`, {
    query: { repo: repository, tag: version },
  });
  return true;
}

/** Stays as long as any holder uses it, also one of another service. */
export async function removeHolderImage(client: DockerClient): Promise<void> {
  try {
    await client.call('DELETE', `/images/${holderImage}`);
  } catch (error) {
    if (!isRefusal(error, 404, 409)) throw error;
  }
}

async function isPresent(client: DockerClient): Promise<boolean> {
  try {
    await client.call('GET', `/images/${holderImage}/json`);
    return true;
  } catch (error) {
    if (isRefusal(error, 404)) return false;
    throw error;
  }
}
