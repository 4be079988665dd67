import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineAddress } from '../packages/server/src/engines/docker/address.ts';
import { isAnswering } from '../packages/server/src/engines/docker/find.ts';
import { mountCgroups } from './cgroups.ts';
import { runCommand, systemEnvironment } from './command.ts';
import { installDebianPackages, obstacleToInstalling, SetupError } from './debian.ts';
import { findFirewallTool } from './firewall.ts';
import { say } from './say.ts';

const socket = '/var/run/docker.sock';
const address: EngineAddress = { kind: 'unix', path: socket };
const logFile = '/var/log/dockerd.log';
const byHand = 'start one (apt-get install docker.io), or name one in DOCKER_HOST.';

/** Installs Docker where its daemon is missing; the client alone, which some machines have, is not enough. */
export async function installDocker(): Promise<void> {
  const obstacle = obstacleToInstalling();
  if (obstacle !== undefined) {
    throw new SetupError(`No container engine answers, and ${obstacle}; ${byHand}`);
  }
  if (findDaemon() !== undefined) return;
  // Without certificates of the web, the engine could not pull images; busybox is what the first sample is made of.
  await installDebianPackages(
    ['docker.io', 'ca-certificates', 'busybox-static'],
    'to run containers',
  );
}

/** Starts the daemon so that it outlives the service, and waits until it answers. */
export async function startDocker(): Promise<EngineAddress> {
  // Where systemd runs, installing the package has started it.
  if (await isAnswering(address)) return address;
  if (existsSync('/run/systemd/system')) await startBySystemd();
  else await startInBackground();
  return address;
}

function findDaemon(): string | undefined {
  const folders = (systemEnvironment()['PATH'] ?? '').split(':');
  return folders.map((folder) => join(folder, 'dockerd')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function startBySystemd(): Promise<void> {
  say('starting Docker (systemctl enable --now docker)…');
  const { code, output } = await runCommand('systemctl', ['enable', '--now', 'docker']);
  if (code === 0 && (await answersWithin(60_000))) return;
  const reason = output.trim().split('\n').at(-1) || 'it does not answer';
  throw new SetupError(`Docker did not start (${reason}); see journalctl -u docker, or ${byHand}`);
}

async function startInBackground(): Promise<void> {
  await mountCgroups();
  dropForeignPidFile('/var/run/docker.pid', 'dockerd');
  // A daemon that takes another process for its containerd waits for it for ever.
  dropForeignPidFile('/var/run/docker/containerd/containerd.pid', 'containerd');
  const firewall = await findFirewallTool();
  const flags = firewall === 'none' ? ['--iptables=false', '--ip6tables=false'] : [];
  say(`starting Docker in the background (log: ${logFile})…`);
  const logged = existsSync(logFile) ? statSync(logFile).size : 0;
  const log = openSync(logFile, 'a');
  // Detached: a session of its own, so that neither Ctrl-C nor the end of the service ends it.
  const daemon = spawn(findDaemon() ?? 'dockerd', flags, {
    cwd: '/',
    detached: true,
    env: systemEnvironment(),
    stdio: ['ignore', log, log],
  });
  daemon.unref();
  const ended = new Promise<void>((resolve) => {
    daemon.once('exit', () => resolve());
    daemon.once('error', () => resolve());
  });
  // A daemon that ends at once may have met one that another start of the service began a moment ago.
  const grace = ended.then(() => answersWithin(10_000));
  if (await Promise.race([answersWithin(60_000), grace])) return;
  throw new SetupError(`Docker did not start (${lastLine(logged)}); see ${logFile}, or ${byHand}`);
}

/** A machine that was switched off leaves pid files behind, and their numbers are soon somebody else's. */
function dropForeignPidFile(path: string, program: string): void {
  try {
    const pid = readFileSync(path, 'utf8').trim();
    const name = existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : '';
    if (name !== program) rmSync(path);
  } catch {
    // No pid file.
  }
}

async function answersWithin(limitMs: number): Promise<boolean> {
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    if (existsSync(socket) && (await isAnswering(address))) return true;
    await sleep(100);
  }
  return false;
}

function lastLine(after: number): string {
  const lines = readFileSync(logFile).subarray(after).toString().trim().split('\n');
  const failure = lines.findLast((line) => /failed|fatal|error/i.test(line)) ?? lines.at(-1);
  return failure?.trim().slice(0, 300) || 'it does not answer';
}
