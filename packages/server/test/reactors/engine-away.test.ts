import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEngineAddress } from '../../src/engines/docker/find.ts';
import { startEngineProxy } from '../harness/engine-proxy.ts';
import { openImageRegistry } from '../harness/image-registry.ts';
import { engineAddress } from '../harness/images.ts';
import { reactorsCaller } from '../harness/reactors-area.ts';
import { startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

test('Without an engine a reactor waits in SUBMITTED with words, and goes on when it is there', async () => {
  const address = await findEngineAddress(engineAddress, process.env);
  assert.ok(address?.kind === 'unix', 'only an engine at a socket can be cut off');
  const proxy = await startEngineProxy(address.path);
  await proxy.cut();
  const registry = await openImageRegistry();
  const service = await startService({ environment: { REACTORD_ENGINE: proxy.address } });
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

    await proxy.restore();
    const record = await ada.pulled(id);
    assert.equal(record.status, 'READY', record.statusMessage);
    assert.equal(record.statusMessage, '');

    // It goes away in the middle of a pull.
    const held = registry.hold();
    const second = await ada.register({ image: `${registry.host}/away/tool:2` });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    await proxy.cut();
    await until('the reactor to wait for the engine', async () =>
      /^waiting for/.test((await ada.show(second.id)).statusMessage),
    );
    held.release();
    await proxy.restore();
    assert.equal((await ada.pulled(second.id)).status, 'READY');
  } finally {
    await service.dispose();
    await registry.close();
    await proxy.dispose();
  }
});
