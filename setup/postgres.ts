import { type ExecFileOptions, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { installDebianPackages } from './debian.ts';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';

/** A PostgreSQL server of our own, with its data in a folder that goes away with it. */
export interface PostgresServer {
  /** The address of the administrative database. */
  readonly url: string;
  /** As an operator's restart would: connections are cut off. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const programs = await findPrograms();
  const owner = await findOwner();
  const folder = await mkdtemp(join(tmpdir(), 'reactord-postgres-'));
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const port = await freePort();
  const call = (program: string, ...args: string[]) =>
    run(join(programs, program), args, { ...owner, cwd: folder });
  // Only the loopback address can reach it, so that address is trusted.
  await call(
    'initdb',
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  );
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  const halt = async () => {
    await call('pg_ctl', '-D', data, '-w', '-m', 'fast', 'stop');
  };
  const resume = async () => {
    await call('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start');
  };
  await resume();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    halt,
    resume,
    async stop() {
      await halt();
      await rm(folder, { recursive: true });
    },
  };
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** A fresh database with a name of its own. */
export async function createDatabase(adminUrl: string): Promise<TestDatabase> {
  const name = `reactord_${randomBytes(8).toString('hex')}`;
  await administer(adminUrl, `create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => administer(adminUrl, `drop database if exists ${name} with (force)`),
  };
}

async function administer(url: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(command);
  } finally {
    await client.end();
  }
}

async function findPrograms(): Promise<string> {
  const newest = async () =>
    (await readdir(versions).catch(() => []))
      .filter((version) => /^\d+$/.test(version))
      .sort((a, b) => Number(b) - Number(a))[0];
  let version = await newest();
  if (version === undefined) {
    await installDebianPackages(['postgresql'], 'for the tests of the store');
    version = await newest();
  }
  if (version === undefined) throw new Error(`There is no PostgreSQL under ${versions}.`);
  return join(versions, version, 'bin');
}

/** PostgreSQL refuses to run as root; Debian's package has made a user for it. */
async function findOwner(): Promise<(ExecFileOptions & { uid: number; gid: number }) | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (which: string) => Number((await run('id', [which, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}
