import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { basic } from './clients-area.ts';
import { until } from './until.ts';

/**
 * A real registry behind a door of the test's own: the door asks for a password, holds layers back, and counts how
 * often somebody asked which content a tag has.
 */
export interface ImageRegistry {
  /** host:port, for image references. */
  readonly host: string;
  /** Username and password that the door asks for; undefined lets everybody in. */
  credentials: { readonly username: string; readonly password: string } | undefined;
  /** Puts an image with this text in its only layer under the tag, and resolves with the digest. */
  push(repository: string, tag: string, content: string): Promise<string>;
  /** How often a manifest was asked for. */
  asked(): number;
  /** Layers that are asked for from now on wait until `release` is called. */
  hold(): { readonly release: () => void; readonly waiting: () => number };
  /** Ends it, and takes the images that came from it off the engine. */
  close(): Promise<void>;
}

export async function startRegistry(): Promise<ImageRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-registry-'));
  const back = await startBack(folder);
  let asked = 0;
  let held: { gate: Promise<void>; waiting: number } | undefined;
  const registry: Pick<ImageRegistry, 'credentials'> = { credentials: undefined };
  const door = createServer(async (incoming, answer) => {
    const wanted = registry.credentials;
    if (wanted && incoming.headers.authorization !== basic(wanted.username, wanted.password)) {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="tests"' }).end();
      return;
    }
    if (incoming.url?.includes('/manifests/') === true) asked += 1;
    if (held !== undefined && incoming.url?.includes('/blobs/') === true) {
      held.waiting += 1;
      await held.gate;
    }
    passOn(incoming, back.port, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    }).on('error', () => answer.destroy());
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const host = `127.0.0.1:${portOf(door)}`;
  return Object.assign(registry, {
    host,
    push: (repository: string, tag: string, content: string) =>
      push(`http://127.0.0.1:${back.port}/v2/${repository}`, tag, content),
    asked: () => asked,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const mine = { gate: promise, waiting: 0 };
      held = mine;
      return {
        release: () => {
          held = undefined;
          resolve();
        },
        waiting: () => mine.waiting,
      };
    },
    close: async () => {
      door.closeAllConnections();
      door.close();
      back.child.kill();
      await once(back.child, 'close');
      await removeImages(host);
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

async function removeImages(host: string): Promise<void> {
  const run = promisify(execFile);
  const listed = await run('docker', ['images', '--quiet', '--no-trunc', `${host}/*/*`]);
  const ids = [...new Set(listed.stdout.split('\n'))].filter((id) => id !== '');
  // Another test may have the same content in use, or be faster.
  for (const id of ids) await run('docker', ['rmi', '--force', id]).catch(() => {});
}

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

async function startBack(folder: string): Promise<{ child: ChildProcess; port: number }> {
  const port = await freePort();
  const config = join(folder, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      version: '0.1',
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(folder, 'storage') } },
      http: { addr: `127.0.0.1:${port}` },
    }),
  );
  const child = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  await until('the registry to answer', async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => undefined);
    return reply?.ok;
  });
  return { child, port };
}

function passOn(incoming: IncomingMessage, port: number, done: (reply: IncomingMessage) => void) {
  const { method, url, headers } = incoming;
  const onward = request(
    { host: '127.0.0.1', port, ...(method && { method }), ...(url && { path: url }), headers },
    done,
  );
  incoming.pipe(onward);
  return onward;
}

async function push(repository: string, tag: string, content: string): Promise<string> {
  const layer = oneFileArchive(content);
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      // Unlike that of any other registry, so that nobody removes it for somebody else.
      config: { Cmd: ['/content'], Labels: { repository } },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  );
  for (const blob of [layer, config]) await putBlob(repository, blob);
  const image = 'application/vnd.docker.distribution.manifest.v2+json';
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: image,
    config: describe('application/vnd.docker.container.image.v1+json', config),
    layers: [describe('application/vnd.docker.image.rootfs.diff.tar', layer)],
  });
  const reply = await fetch(`${repository}/manifests/${tag}`, {
    method: 'PUT',
    headers: { 'content-type': image },
    body: manifest,
  });
  if (!reply.ok) throw new Error(`the registry refuses the manifest: ${await reply.text()}`);
  return digestOf(Buffer.from(manifest));
}

async function putBlob(repository: string, blob: Buffer): Promise<void> {
  const begun = await fetch(`${repository}/blobs/uploads/`, { method: 'POST' });
  const place = new URL(begun.headers.get('location') ?? '', repository);
  place.searchParams.set('digest', digestOf(blob));
  const reply = await fetch(place, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(blob),
  });
  if (!reply.ok) throw new Error(`the registry refuses a blob: ${await reply.text()}`);
}

/** A tar archive with the one file `content`. */
export function oneFileArchive(content: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-layer-'));
  try {
    writeFileSync(join(folder, 'content'), content);
    return execFileSync('tar', ['-C', folder, '-cf', '-', 'content']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const digestOf = (bytes: Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const describe = (mediaType: string, blob: Buffer) => ({
  mediaType,
  size: blob.byteLength,
  digest: digestOf(blob),
});

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
