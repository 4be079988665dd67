import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { instanceOf, ownerOf } from '../../src/executions/instance.ts';
import { newId } from '../../src/ids.ts';

/** The engine under test, as setup names it, or the one that is found. */
const engineAddress = process.env['REACTORD_TEST_ENGINE'] || undefined;
/** A program of a Debian package that setup installs. */
const busybox = process.env['REACTORD_TEST_BUSYBOX'] || '/bin/busybox';
const tools = [
  'sh',
  'cat',
  'env',
  'sleep',
  'head',
  'wc',
  'grep',
  'nc',
  'dd',
  'tail',
  'md5sum',
  'ls',
  'seq',
  'yes',
  'kill',
  'date',
  'id',
  'awk',
  'touch',
];

/** The socket of the engine under test. */
export const testEngineSocket = (): string =>
  (engineAddress ?? process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace(
    /^unix:\/\//,
    '',
  );

/** The engine as the service of this data folder uses it, to look at what it has made there. */
export const openTestEngine = (data: string): DockerEngine =>
  new DockerEngine({
    address: engineAddress,
    environment: process.env,
    owner: ownerOf(instanceOf(data)),
  });

const runVariable = ['/bin/sh', '-c', 'eval "$RUN"'];

export interface RunImage {
  readonly reference: string;
  remove(): Promise<void>;
}

/**
 * A small image without any registry, whose containers run the shell program in their variable RUN: so a reactor's
 * default_environment says what its executions do.
 */
export async function makeRunImage(user = '0'): Promise<RunImage> {
  const client = new DockerClient(engineAddress, process.env);
  const [repo, tag] = [`reactord-run/${newId().toLowerCase()}`, '1'];
  const content = archive();
  const body = await client.open('POST', '/images/create', {
    query: { fromSrc: '-', repo, tag, changes: `CMD ${JSON.stringify(runVariable)}\nUSER ${user}` },
    upload: { length: content.length, parts: [content] },
  });
  for await (const _ of body);
  const reference = `${repo}:${tag}`;
  return {
    reference,
    remove: async () => {
      await client.call('DELETE', `/images/${reference}`, { query: { force: 1 } });
      client.close();
    },
  };
}

function archive(): Buffer {
  const root = mkdtempSync(join(tmpdir(), 'reactord-image-'));
  try {
    for (const folder of ['bin', 'etc', 'tmp', 'dev', 'proc', 'sys']) mkdirSync(join(root, folder));
    copyFileSync(busybox, join(root, 'bin/busybox'));
    for (const tool of tools) symlinkSync('busybox', join(root, 'bin', tool));
    return execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], {
      maxBuffer: 2 ** 28,
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}
