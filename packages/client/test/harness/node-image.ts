import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DockerClient } from '../../../server/src/engines/docker/docker-client.ts';
import { newId } from '../../../server/src/ids.ts';
import { engineAddress } from '../../../server/test/harness/images.ts';
import type { RunImage } from '../../../server/test/harness/run-image.ts';

/** Runs what the variable RUN holds, as the body of a function with the package's functions at hand. */
const program = `
import * as inside from '@reactord/client/container';
const AsyncFunction = (async () => {}).constructor;
await new AsyncFunction(...Object.keys(inside), process.env.RUN)(...Object.values(inside));
`;

/** An image with this Node and the installed package, without any registry. */
export async function makeNodeImage(installed: string): Promise<RunImage> {
  const client = new DockerClient(engineAddress, process.env);
  const [repo, tag] = [`reactord-node/${newId().toLowerCase()}`, 'latest'];
  const content = archive(installed);
  const body = await client.open('POST', '/images/create', {
    query: { fromSrc: '-', repo, tag, changes: 'CMD ["/bin/node", "/app/run.mjs"]' },
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

function archive(installed: string): Buffer {
  const root = mkdtempSync(join(tmpdir(), 'reactord-image-'));
  try {
    for (const folder of ['bin', 'tmp', 'etc', 'dev', 'proc', 'sys', 'app'])
      mkdirSync(join(root, folder));
    copyFileSync(process.execPath, join(root, 'bin/node'));
    chmodSync(join(root, 'bin/node'), 0o755);
    const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' });
    for (const [path] of libraries.matchAll(/\/[^\s:]+(?= \()/g)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
    cpSync(installed, join(root, 'app/node_modules/@reactord/client'), { recursive: true });
    writeFileSync(join(root, 'app/run.mjs'), program);
    return execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], {
      maxBuffer: 2 ** 29,
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}
