import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const program = process.env['REACTORD_TEST_REGISTRY'] || 'docker-registry';

/** Who may pull where a login is asked for, and the same as a line of htpasswd (bcrypt). */
export const puller = { username: 'puller', password: 'open sesame' };
const pullerLine = 'puller:$2y$05$VDIJewV18Xp63/VuOeLD3O8Npk58thX804ZMSp14bRKNUxczM/Pzm\n';

export interface RunningRegistry {
  /** host:port, on loopback, which engines take without TLS. */
  readonly host: string;
  stop(): Promise<void>;
}

/** A real registry of its own, empty. */
export async function startRegistry(options: { login: boolean }): Promise<RunningRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(folder, 'htpasswd'), pullerLine);
  writeFileSync(join(folder, 'config.yml'), configOf(folder, host, options.login));
  const server = spawn(program, ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  // Anything but silence: one that asks for a login answers 401.
  await until('the registry', () =>
    fetch(`http://${host}/v2/`).then(
      () => true,
      () => false,
    ),
  );
  return {
    host,
    stop: async () => {
      server.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function configOf(folder: string, host: string, login: boolean): string {
  return JSON.stringify({
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: host },
    ...(login && { auth: { htpasswd: { realm: 'tests', path: join(folder, 'htpasswd') } } }),
  });
}
