import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRegistry } from '../harness/image-registry.ts';
import { reactorsCaller } from '../harness/reactors-area.ts';
import { startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

const engineSocket = '/var/run/docker.sock';

/** A way to the real engine that can be closed. */
async function openWay(path: string): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((here) => {
    const there = connect(engineSocket);
    for (const socket of [here, there]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    here.pipe(there).pipe(here);
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

test('Without an engine a reactor waits in SUBMITTED with words, and goes on when it is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-away-'));
  const path = join(folder, 'engine.sock');
  const registry = await startRegistry();
  const service = await startService({ environment: { REACTORD_ENGINE: `unix://${path}` } });
  let way: { close(): Promise<void> } | undefined;
  try {
    await registry.push('away/tool', '1', 'away');
    await registry.push('away/tool', '2', 'away again');
    const ada = await reactorsCaller(service, 'ada');
    const { id } = await ada.register({ image: `${registry.host}/away/tool:1` });
    const waiting = await until('the reactor to say what it waits for', async () => {
      const record = await ada.show(id);
      return record.statusMessage === '' ? undefined : record;
    });
    assert.equal(waiting.status, 'SUBMITTED');
    assert.match(waiting.statusMessage, /^waiting for the container engine: /);

    way = await openWay(path);
    const record = await ada.pulled(id);
    assert.equal(record.status, 'READY', record.statusMessage);
    assert.equal(record.statusMessage, '');

    // It goes away in the middle of a pull.
    const held = registry.hold();
    const second = await ada.register({ image: `${registry.host}/away/tool:2` });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    await way.close();
    way = undefined;
    await until('the reactor to wait for the engine', async () =>
      /^waiting for/.test((await ada.show(second.id)).statusMessage),
    );
    held.release();
    way = await openWay(path);
    assert.equal((await ada.pulled(second.id)).status, 'READY');
  } finally {
    await way?.close();
    await service.dispose();
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
