import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand, systemEnvironment } from './command.ts';

/** Starts a PostgreSQL server of its own in a temporary folder; `stop` ends it and removes the folder. */
export async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const bin = newestPrograms();
  const owner = serverUser();
  const folder = mkdtempSync(join(tmpdir(), 'reactord-postgres-'));
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const made = await runCommand(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    {},
    owner,
  );
  if (made.code !== 0) throw new Error(`initdb failed: ${made.output}`);
  const port = await freePort();
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-k', folder, '-h', '127.0.0.1', '-c', 'max_connections=200'],
    // Detached: Ctrl-C ends the tests first, and `stop` ends the server after them.
    { cwd: folder, stdio: 'ignore', detached: true, env: systemEnvironment(), ...owner },
  );
  const ended = new Promise<void>((resolve) => {
    server.once('exit', () => resolve());
    server.once('error', () => resolve());
  });
  const stop = async () => {
    // Immediate shutdown: nothing in it is kept.
    server.kill('SIGQUIT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const ready = () =>
    runCommand(join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)]);
  for (let attempt = 0; attempt < 300; attempt++) {
    if ((await ready()).code === 0)
      return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
    if (server.exitCode !== null) break;
    await sleep(100);
  }
  await stop();
  throw new Error('PostgreSQL did not start.');
}

function newestPrograms(): string {
  const versions = '/usr/lib/postgresql';
  const newest = readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error('PostgreSQL is not installed.');
  return join(versions, newest, 'bin');
}

/** PostgreSQL refuses to run as root; Debian's package makes a user for it. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return line === null ? undefined : { uid: Number(line[1]), gid: Number(line[2]) };
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const address = probe.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    probe.close(() => resolve(port));
  });
  return promise;
}
