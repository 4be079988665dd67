import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../packages/server/test/harness/free-port.ts';
import { until } from '../../packages/server/test/harness/until.ts';
import { root } from './run-page.ts';

export interface Site {
  readonly servicePort: number;
  readonly httpsPort: number;
  /** Goes into the server with TLS. */
  readonly extra: string;
}

export interface RunningNginx {
  readonly httpPort: number;
  readonly certificate: string;
  stop(): Promise<void>;
}

const host = 'reactors.example.org';

/**
 * Debian's nginx with deploy/nginx.conf as it is, but for its ports and places, in front of a service.
 */
export async function startNginx({ servicePort, httpsPort, extra }: Site): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-nginx-'));
  const httpPort = await freePort();
  const certificate = makeCertificate(folder);
  const deployed = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8')
    .replaceAll(/^\s*listen \[::\].*$/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
    .replace('listen 443 ', `listen 127.0.0.1:${httpsPort} `)
    .replaceAll('/etc/reactord/tls/', `${folder}/`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${servicePort}`)
    // A browser leaves the usual port out, this one it does not.
    .replaceAll('$host;', `$host:${httpsPort};`)
    .replace('    location / {', `${extra}\n    location / {`);
  writeFileSync(join(folder, 'site.conf'), deployed);
  writeFileSync(join(folder, 'nginx.conf'), mainConfig(folder));
  const child = spawn(
    'unshare',
    ['--mount', 'sh', 'docs/test/own-folders.sh', ...command(folder)],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    },
  );
  await until('nginx to listen', () => isListening(httpsPort, child), 120_000);
  return {
    httpPort,
    certificate,
    stop: async () => {
      const ended = once(child, 'close');
      process.kill(-(child.pid ?? 0), 'SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Installed only for as long as it runs; where the machine has it, there is nothing to install. */
const command = (folder: string): readonly string[] => [
  'sh',
  '-c',
  `command -v nginx >/dev/null || apt-get install --yes --quiet --no-install-recommends nginx-light >/dev/null
   exec nginx -p '${folder}' -c '${folder}/nginx.conf' -e '${folder}/error.log' -g 'daemon off;'`,
];

const mainConfig = (folder: string): string => `
  pid ${folder}/pid;
  error_log ${folder}/error.log;
  user root;
  events {}
  http {
    access_log off;
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    include ${folder}/site.conf;
  }
`;

function makeCertificate(folder: string): string {
  const certificate = join(folder, 'fullchain.pem');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`],
      ...['-keyout', join(folder, 'privkey.pem'), '-out', certificate],
    ],
    { stdio: 'ignore' },
  );
  return certificate;
}

async function isListening(port: number, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
