import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TarArchive } from '../../packages/server/src/engines/docker/tar.ts';
import { installDebianPackages } from '../debian.ts';
import { debootstrapInto } from './debootstrap.ts';
import type { BaseKind } from './sample.ts';

export interface BaseRecipe {
  /** How long it takes, for the person who waits. */
  readonly takes: string;
  /** What it is made from, with a number that is raised when the recipe changes: then the base is made anew. */
  readonly source: string;
  make(): Promise<{ readonly archive: TarArchive; readonly changes: string }>;
}

/** The bases as they can be made on a Debian machine without any image registry. */
export const debianBases: Readonly<Record<BaseKind, BaseRecipe>> = {
  busybox: {
    takes: 'a second',
    source: 'busybox 1',
    make: () => make(placeBusybox, 'CMD ["sh"]'),
  },
  node: {
    takes: 'a few seconds',
    source: `node ${process.version} 1`,
    make: () =>
      make(async (root) => {
        await placeBusybox(root);
        placeWithLibraries(process.execPath, root, '/usr/local/bin/node');
      }, 'CMD ["node"]'),
  },
  python: {
    takes: 'a minute or two, once',
    source: 'python 1',
    make: () =>
      make((root) => debootstrapInto(root, ['python3', 'python3-cloudpickle']), 'CMD ["python3"]'),
  },
};

export const busybox = '/bin/busybox';

async function make(
  fill: (root: string) => Promise<void>,
  command: string,
): Promise<{ archive: TarArchive; changes: string }> {
  const root = mkdtempSync(join(tmpdir(), 'reactord-base-'));
  try {
    await fill(root);
    const content = execFileSync('tar', ['-C', root, '--numeric-owner', '-c', '.'], {
      maxBuffer: 2 ** 30,
    });
    const path = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    return {
      archive: { length: content.length, parts: [content] },
      changes: `${path}\n${command}`,
    };
  } finally {
    rmSync(root, { recursive: true });
  }
}

async function placeBusybox(root: string): Promise<void> {
  if (!existsSync(busybox))
    await installDebianPackages(['busybox-static'], 'for the base of images');
  chmodSync(root, 0o755);
  for (const folder of ['bin', 'etc', 'tmp', 'dev', 'proc', 'sys', 'root', 'usr/local/bin'])
    mkdirSync(join(root, folder), { recursive: true });
  chmodSync(join(root, 'tmp'), 0o1777);
  placeWithLibraries(busybox, root, '/bin/busybox');
  for (const name of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n'))
    if (name !== 'busybox') symlinkSync('busybox', join(root, 'bin', basename(name)));
  const write = (path: string, text: string) => writeFileSync(join(root, path), `${text}\n`);
  write('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh');
  write('etc/group', 'root:x:0:\nnogroup:x:65534:');
  write('etc/nsswitch.conf', 'hosts: files dns');
}

/** A program with the libraries that it is linked to; a static one has none. */
function placeWithLibraries(program: string, root: string, path: string): void {
  place(program, root, path);
  for (const library of librariesOf(program)) place(library, root, library);
}

function librariesOf(program: string): readonly string[] {
  try {
    const lines = execFileSync('ldd', [program], { encoding: 'utf8', stdio: 'pipe' });
    return [...lines.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  } catch {
    return [];
  }
}

function place(from: string, root: string, to: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(realpathSync(from), target);
  chmodSync(target, statSync(from).mode | 0o555);
}
