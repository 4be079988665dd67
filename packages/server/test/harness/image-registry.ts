import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { basic } from './clients-area.ts';
import { freePort } from './free-port.ts';
import { engineAddress, forgetImage } from './images.ts';
import { startRegistry } from './registry.ts';

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

export async function openImageRegistry(): Promise<ImageRegistry> {
  const back = await startRegistry({ login: false });
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
    passOn(incoming, back.host, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    }).on('error', () => answer.destroy());
  });
  const port = await freePort();
  door.listen(port, '127.0.0.1');
  await once(door, 'listening');
  const host = `127.0.0.1:${port}`;
  return Object.assign(registry, {
    host,
    push: (repository: string, tag: string, content: string) =>
      push(`http://${back.host}/v2/${repository}`, tag, content),
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
      await back.stop();
      await removeImages(host);
    },
  });
}

async function removeImages(host: string): Promise<void> {
  const client = new DockerClient(engineAddress, process.env);
  const filters = JSON.stringify({ reference: [`${host}/*/*`] });
  const listed = await client.call('GET', '/images/json', { query: { filters } });
  client.close();
  if (!Array.isArray(listed)) throw new Error('the engine lists no images');
  for (const { Id } of listed) await forgetImage(String(Id));
}

function passOn(incoming: IncomingMessage, to: string, done: (reply: IncomingMessage) => void) {
  const { method, url, headers } = incoming;
  const [host, port] = to.split(':');
  const onward = request({ host, port, method, path: url, headers }, done);
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
function oneFileArchive(content: string): Buffer {
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
