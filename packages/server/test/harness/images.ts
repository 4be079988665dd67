import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { newId } from '../../src/ids.ts';

/** The engine under test, as setup names it, or the one that is found. */
export const engineAddress = process.env['REACTORD_TEST_ENGINE'] || undefined;

/** A program of a Debian package that setup installs. */
const busybox = process.env['REACTORD_TEST_BUSYBOX'] || '/bin/busybox';

export interface TestImage {
  /** Its reference: an image that only this engine has, with busybox as its shell and every tool. */
  readonly reference: string;
  /** Gives it another name on the engine, and pushes that to the registry in the name. */
  push(reference: string, login?: { username: string; password: string }): Promise<void>;
  remove(): Promise<void>;
}

/** Makes a small image out of Debian's busybox, without any registry. Images differ in the content of /made-for. */
export async function makeTestImage(address = engineAddress): Promise<TestImage> {
  const client = new DockerClient(address, process.env);
  // Podman ignores any other tag.
  const [repo, tag] = [`reactord-test/${newId().toLowerCase()}`, 'latest'];
  const reference = `${repo}:${tag}`;
  await drain(
    client.open('POST', '/images/create', {
      query: { fromSrc: '-', repo, tag, changes: 'CMD ["sh"]' },
      upload: archive(),
    }),
  );
  const names = new Set([reference]);
  return {
    reference,
    push: async (pushed, login = { username: '', password: '' }) => {
      const at = pushed.lastIndexOf(':');
      const [name, version] = [pushed.slice(0, at), pushed.slice(at + 1)];
      await client.call('POST', `/images/${reference}/tag`, {
        query: { repo: name, tag: version },
      });
      names.add(pushed);
      const auth = Buffer.from(JSON.stringify(login)).toString('base64');
      const said = await drain(
        client.open('POST', `/images/${name}/push`, {
          query: { tag: version },
          headers: { 'X-Registry-Auth': auth.replaceAll('+', '-').replaceAll('/', '_') },
        }),
      );
      if (said.includes('"error"')) throw new Error(`pushing ${pushed}: ${said}`);
      await client.call('DELETE', `/images/${pushed}`);
      names.delete(pushed);
    },
    remove: async () => {
      for (const name of names)
        await client.call('DELETE', `/images/${name}`, { query: { force: 1 } });
      client.close();
    },
  };
}

/** An image with nothing in it but busybox under these paths, and what these lines of a Dockerfile say. */
export async function makeImageOf(
  paths: readonly string[],
  changes: readonly string[],
): Promise<{ readonly reference: string; remove(): Promise<void> }> {
  const client = new DockerClient(engineAddress, process.env);
  const [repo, tag] = [`reactord-test/${newId().toLowerCase()}`, 'latest'];
  const root = mkdtempSync(join(tmpdir(), 'reactord-image-'));
  for (const path of paths) place(busybox, root, path);
  const content = tarOfFolder(root);
  rmSync(root, { recursive: true });
  await drain(
    client.open('POST', '/images/create', {
      query: { fromSrc: '-', repo, tag, changes: changes.join('\n') },
      upload: { length: content.length, parts: [content] },
    }),
  );
  const reference = `${repo}:${tag}`;
  return {
    reference,
    remove: async () => {
      await client.call('DELETE', `/images/${reference}`, { query: { force: 1 } });
      client.close();
    },
  };
}

/** Forgets a pulled image, so that the next pull is a real one. */
export async function forgetImage(reference: string): Promise<void> {
  const client = new DockerClient(engineAddress, process.env);
  await client.call('DELETE', `/images/${reference}`, { query: { force: 1 } }).catch(() => {});
  client.close();
}

async function drain(opening: Promise<AsyncIterable<Buffer>>): Promise<string> {
  let text = '';
  for await (const chunk of await opening) text += chunk.toString();
  return text;
}

function archive(): { length: number; parts: Uint8Array[] } {
  const root = mkdtempSync(join(tmpdir(), 'reactord-image-'));
  try {
    for (const folder of ['bin', 'etc', 'tmp', 'dev', 'proc', 'sys']) mkdirSync(join(root, folder));
    chmodSync(join(root, 'tmp'), 0o1777);
    place(busybox, root, '/bin/busybox');
    for (const name of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n'))
      if (name !== 'busybox') symlinkSync('busybox', join(root, 'bin', basename(name)));
    // A static program cannot look up names; this one asks the system as other programs do.
    placeWithLibraries('/usr/bin/getent', root);
    // No two images are the same, so that their layers are pushed and pulled for each.
    writeFileSync(join(root, 'made-for'), newId());
    const content = tarOfFolder(root);
    return { length: content.length, parts: [content] };
  } finally {
    rmSync(root, { recursive: true });
  }
}

function tarOfFolder(root: string): Buffer {
  return execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], {
    maxBuffer: 2 ** 28,
  });
}

function placeWithLibraries(program: string, root: string): void {
  place(program, root, program);
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' });
  for (const [path] of libraries.matchAll(/\/\S+/g)) place(path, root, path);
}

function place(from: string, root: string, to: string): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to));
  chmodSync(join(root, to), 0o755);
}
