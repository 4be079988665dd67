import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { type TarArchive as Archive, tarOf } from '../../src/engines/docker/tar.ts';
import { newId } from '../../src/ids.ts';
import { engineAddress } from './images.ts';

/** Debian's, which setup installs; another Python may come first in PATH. */
const python = '/usr/bin/python3';
const cloudpickle = '/usr/lib/python3/dist-packages/cloudpickle';
/** What no function of the tests needs, and most of the size. */
const leftOut = ['test', 'idlelib', 'lib2to3', 'ensurepip', 'tkinter', 'pydoc_data', 'config-3*'];

const root = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

export interface ExecutorImages {
  readonly executor: string;
  /** The same, except that its containers run the program in their variable RUN. */
  readonly program: string;
  remove(): Promise<void>;
}

/** The executor image by its own Dockerfile, on a base of Debian's Python that is made without any registry. */
export async function makeExecutorImages(): Promise<ExecutorImages> {
  const client = new DockerClient(engineAddress, process.env);
  const base = `reactord-python/${newId().toLowerCase()}:latest`;
  const executor = `reactord-executor/${newId().toLowerCase()}:latest`;
  const program = `reactord-program/${newId().toLowerCase()}:latest`;
  const remove = (image: string) =>
    client.call('DELETE', `/images/${image}`, { query: { force: 1 } }).catch(() => {});
  const made = await client.open('POST', '/images/create', {
    query: { fromSrc: '-', repo: base.replace(':latest', ''), tag: 'latest' },
    upload: baseArchive(),
  });
  for await (const _ of made);
  const build = async (reference: string, upload: Archive) => {
    const built = await client.open('POST', '/build', {
      query: { t: reference, buildargs: JSON.stringify({ BASE: base }), rm: 1, forcerm: 1 },
      upload,
    });
    let said = '';
    for await (const chunk of built) said += chunk.toString();
    if (said.includes('"error"')) throw new Error(`${reference} was not built: ${said}`);
  };
  await build(executor, contextArchive());
  await build(
    program,
    tarOf([{ path: 'Dockerfile', mode: 0o644, content: runsVariable(executor) }]),
  );
  return {
    executor,
    program,
    remove: async () => {
      for (const image of [program, executor, base]) await remove(image);
      client.close();
    },
  };
}

function runsVariable(executor: string): Buffer {
  const command = ['python3', '-c', 'import os; exec(os.environ["RUN"])'];
  return Buffer.from(`FROM ${executor}\nCMD ${JSON.stringify(command)}\n`);
}

function baseArchive(): Archive {
  const standard = execFileSync(
    python,
    ['-c', "import sysconfig; print(sysconfig.get_path('stdlib'))"],
    { encoding: 'utf8' },
  ).trim();
  const programs = [python, ...globSync(`${standard}/lib-dynload/*.so`)];
  const libraries = execFileSync('ldd', programs, { encoding: 'utf8' }).matchAll(
    /\/[^\s:]+(?= \()/g,
  );
  const folder = mkdtempSync(join(tmpdir(), 'reactord-image-'));
  try {
    for (const name of ['etc', 'tmp', 'dev', 'proc', 'sys']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'etc/passwd'), 'nobody:x:65534:65534:nobody:/:/bin/false\n');
    const files = [python, standard, cloudpickle, ...new Set([...libraries].map(([path]) => path))];
    return tar([
      ...['--owner=0', '--group=0', '--dereference', '--hard-dereference'],
      ...leftOut.map((name) => `--exclude=${standard}/${name}`),
      ...['-C', folder, '.', '-C', '/', ...files],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function contextArchive(): Archive {
  const about: { context: string } = JSON.parse(
    readFileSync(root('images/executor/image.json'), 'utf8'),
  );
  const context = join(root('images/executor'), about.context);
  return tar([
    ...['--owner=0', '--group=0', '--mode=a+rX', '--exclude=__pycache__', '--exclude=tests'],
    ...['-C', root('images/executor'), 'Dockerfile', '-C', context, '.'],
  ]);
}

function tar(options: readonly string[]): Archive {
  const content = execFileSync('tar', ['-c', ...options], {
    maxBuffer: 2 ** 30,
    // That it leaves out the slash at the beginning of names.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { length: content.length, parts: [content] };
}
