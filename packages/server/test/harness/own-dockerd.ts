import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAnswering } from '../../src/engines/docker/find.ts';
import { until } from './until.ts';

/** A Docker daemon that a test may stop, start and kill: apart from the machine's, in a network of its own. */
export interface OwnDockerd {
  readonly address: string;
  start(): Promise<void>;
  /** As an administrator does: it stops its containers, unless they are to live through that. */
  stop(): Promise<void>;
  /** As a crash does. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
}

/** Why there can be none here, or undefined where there can. */
export function obstacleToOwnDockerd(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can start a Docker daemon';
  const programs = ['dockerd', 'unshare', 'nsenter', 'ip'];
  const folders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/bin'];
  const missing = programs.filter((name) => !folders.some((one) => existsSync(join(one, name))));
  return missing.length === 0 ? undefined : `${missing.join(', ')} is missing`;
}

export async function startOwnDockerd(options: { liveRestore: boolean }): Promise<OwnDockerd> {
  // Short: the path of a socket has at most 107 characters.
  const folder = mkdtempSync('/tmp/rd-');
  const path = join(folder, 'd.sock');
  // Keeps the namespaces while the daemon is away, so that it finds its bridge and its mounts again.
  const keeper = spawn('unshare', ['--net', '--mount', 'sleep', 'infinity'], { stdio: 'ignore' });
  const within = ['--target', String(keeper.pid), '--net', '--mount'];
  await until('the namespaces', () => {
    try {
      execFileSync('nsenter', [...within, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
      return readFileSync(`/proc/${keeper.pid}/comm`, 'utf8').trim() === 'sleep';
    } catch {
      return false;
    }
  });
  const containerdPid = join(folder, 'run/containerd/containerd.pid');
  let daemon: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const log = openSync(join(folder, 'log'), 'a');
    const flags = [
      ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'run')],
      ...['--pidfile', join(folder, 'pid'), '--host', `unix://${path}`],
      ...(options.liveRestore ? ['--live-restore'] : []),
    ];
    rmSync(join(folder, 'pid'), { force: true });
    // A daemon that was killed took it along. The next waits for it for as long as its number is in use.
    endContainerd(containerdPid);
    daemon = spawn('nsenter', [...within, 'dockerd', ...flags], { stdio: ['ignore', log, log] });
    await until('the daemon', () => existsSync(path) && isAnswering({ kind: 'unix', path }));
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = daemon;
    daemon = undefined;
    if (ending === undefined) return;
    const ended = once(ending, 'exit');
    ending.kill(signal);
    await ended;
  };
  try {
    await start();
  } catch (error) {
    throw new Error(`${error}: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`);
  }
  return {
    address: `unix://${path}`,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    dispose: async () => {
      await end('SIGTERM');
      endContainerd(containerdPid);
      keeper.kill('SIGKILL');
      await once(keeper, 'exit');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function endContainerd(pidFile: string): void {
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  } catch {
    // It has ended with its daemon.
  }
  rmSync(pidFile, { force: true });
}
