import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { idleRemovalEntry } from '../../src/audit/idle-removals.ts';
import { Configs } from '../../src/configs/configs.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { PullFailed } from '../../src/engines/engine.ts';
import type { Reactor, ReactorSettings } from '../../src/reactors/reactor.ts';
import { assembleReactors } from '../../src/reactors/reactors-area.ts';
import { SecretBox } from '../../src/secrets/secret-box.ts';
import { openImageRegistry } from '../harness/image-registry.ts';
import { engineAddress, forgetImage } from '../harness/images.ts';
import { openOwnStore } from '../harness/own-store.ts';
import { until } from '../harness/until.ts';

const log = { info: () => {}, warn: () => {} };

const settings = (image: string): ReactorSettings => ({
  description: '',
  image,
  environment: {},
  stateless: true,
  maxWorkers: 1,
  memoryBytes: null,
  cpus: null,
  timeoutSeconds: 60,
  logSeconds: 60,
  retries: 0,
  token: true,
  hints: [],
  removeWhenIdle: false,
  privileged: false,
  registryCredentials: null,
  link: null,
  webhook: null,
  cronSchedule: null,
  cronOn: false,
  legacy: { type: 'none', queue: 'default', useContainerUid: false },
});

test('An image that was removed from the engine is fetched again, with the same content', async () => {
  const registry = await openImageRegistry();
  const own = await openOwnStore();
  const engine = new DockerEngine({ address: engineAddress, environment: process.env });
  const area = await assembleReactors({
    store: own.store,
    config: {
      pull_policy: 'always',
      registry_auth: undefined,
      idle_removal: 0,
      execution_retention: 3600,
      quota_reactors: 0,
      quota_waiting_messages: 0,
      quota_containers: 0,
      quota_stored_bytes: 0,
    },
    changes: own.changes,
    configs: new Configs({ ...own, box: new SecretBox(randomBytes(32)) }),
    engine,
    noteIdleRemoval: idleRemovalEntry,
    log,
  });
  const ready: string[] = [];
  area.reactors.onReady((id) => ready.push(id));
  const settled = (id: string): Promise<Reactor> =>
    until('the reactor to be settled', async () => {
      const reactor = await area.reactors.byId(id);
      return reactor?.status === 'SUBMITTED' ? undefined : reactor;
    });
  try {
    const digest = await registry.push('gone/tool', '1', 'first');
    const image = `${registry.host}/gone/tool:1`;
    const { id } = await area.reactors.register(own.user, null, settings(image), false);
    const reactor = await settled(id);
    assert.equal(reactor.imageDigest, digest);
    await until('the listeners to be told', () => ready.includes(id));
    assert.equal((await area.images.ensureImage(reactor)).id, reactor.imageId);

    // The tag has moved, and the engine has lost the image: what is run does not change.
    await registry.push('gone/tool', '1', 'second');
    await forgetImage(reactor.imageId ?? '');
    assert.equal(await engine.findImage(reactor.imageId ?? ''), undefined);
    const again = await Promise.all([1, 2, 3].map(() => area.images.ensureImage(reactor)));
    for (const found of again) assert.deepEqual(found, { id: reactor.imageId, digest });
    assert.ok((await engine.findImage(reactor.imageId ?? '')) !== undefined);
    const after = await settled(id);
    assert.equal(after.status, 'READY');
    assert.equal(after.revision, 1);

    // Nobody has it any more.
    await forgetImage(reactor.imageId ?? '');
    registry.credentials = { username: 'nobody', password: 'knows' };
    await assert.rejects(area.images.ensureImage(reactor), PullFailed);
    const lost = await settled(id);
    assert.equal(lost.status, 'ERROR');
    assert.match(lost.statusMessage, /refuses the pull/);
  } finally {
    await area.stop();
    await engine.close();
    await own.close();
    await registry.close();
  }
});
