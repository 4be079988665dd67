import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { newId } from '../../src/ids.ts';
import { engineAddress } from './images.ts';
import type { RunImage } from './run-image.ts';

/** Debian's, which setup installs; another Python may come first in PATH. */
const python = '/usr/bin/python3';
const used =
  'os, sys, ast, json, socket, hashlib, threading, time, urllib.request, urllib.error, encodings.idna';
const listFiles = [
  `import ${used}`,
  "for m in list(sys.modules.values()): print(getattr(m, '__file__', None) or '')",
].join('\n');

/**
 * An image with Debian's Python and the modules that images for reactors use, without any registry. Its containers run
 * the program in their variable RUN.
 */
export async function makePythonImage(): Promise<RunImage> {
  const client = new DockerClient(engineAddress, process.env);
  const [repo, tag] = [`reactord-python/${newId().toLowerCase()}`, 'latest'];
  const content = archive();
  const command = [python, '-B', '-S', '-c', 'import os; exec(os.environ["RUN"])'];
  const body = await client.open('POST', '/images/create', {
    query: { fromSrc: '-', repo, tag, changes: `CMD ${JSON.stringify(command)}` },
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
  const environment = { PATH: '/usr/bin', LC_ALL: 'C.UTF-8' };
  try {
    for (const folder of ['tmp', 'etc', 'dev', 'proc', 'sys']) mkdirSync(join(root, folder));
    const output = execFileSync(python, ['-B', '-S', '-c', listFiles], {
      encoding: 'utf8',
      env: environment,
    });
    const modules = output.split('\n').filter((line) => line.startsWith('/usr'));
    const programs = [python, ...modules.filter((file) => file.endsWith('.so'))];
    const libraries = execFileSync('ldd', programs, { encoding: 'utf8' }).matchAll(
      /\/[^\s:]+(?= \()/g,
    );
    for (const file of new Set([python, ...modules, ...[...libraries].map(([path]) => path)])) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      copyFileSync(file, join(root, file));
    }
    return execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], {
      maxBuffer: 2 ** 28,
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}
