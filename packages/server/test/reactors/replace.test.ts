import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ImageRegistry, openImageRegistry } from '../harness/image-registry.ts';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

let registry: ImageRegistry;
let service: RunningService;
let ada: ReactorsCaller;

before(async () => {
  registry = await openImageRegistry();
  service = await startService();
  ada = await reactorsCaller(service, 'ada');
});
after(async () => {
  await service.dispose();
  await registry.close();
});

async function put(id: string, json: Readonly<Record<string, unknown>>) {
  const reply = await ada.call('PUT', `/${id}`, { json });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json().message, 'Actor updated successfully.');
  return reply.json().result;
}

test('A PUT replaces the whole description; name, owner and image stay without a pull', async () => {
  await registry.push('whole/tool', '1', 'whole');
  const image = `${registry.host}/whole/tool:1`;
  const { id } = await ada.register({
    image,
    name: 'first',
    description: 'before',
    default_environment: { A: 'b' },
    max_workers: 2,
    mem_limit: '64m',
    max_cpus: 0.5,
    timeout: 60,
    log_ex: 60,
    warm: 0,
    token: false,
    hints: ['x'],
    queue: 'special',
  });
  const before = await ada.pulled(id);
  const asked = registry.asked();
  const after = await put(id, { image, name: 'second', default_environment: { C: 'd' } });
  assert.deepEqual(after, {
    ...before,
    description: '',
    defaultEnvironment: { C: 'd' },
    maxWorkers: 1,
    memLimit: '512m',
    maxCpus: 1,
    timeout: 43_200,
    logEx: 86_400,
    warm: 'auto',
    token: true,
    hints: [],
    queue: 'default',
    lastUpdateTime: after.lastUpdateTime,
  });
  assert.equal(after.name, 'first');
  assert.equal(after.status, 'READY');
  assert.ok(after.lastUpdateTime >= before.lastUpdateTime);
  assert.deepEqual(await ada.show(id), after);
  assert.equal(registry.asked(), asked);
});

test('A PUT without image, or with what a registration does not take, is refused and changes nothing', async () => {
  const { id } = await ada.register({ image: '127.0.0.1:1/tool' });
  const before = await ada.pulled(id);
  for (const json of [{}, { description: 'x' }, { image: 'A B' }, { image: 'a', owner: 'bea' }]) {
    const reply = await ada.call('PUT', `/${id}`, { json });
    assert.equal(reply.status, 400, reply.text);
  }
  assert.deepEqual(await ada.show(id), before);
});

test('A tag that moves is followed by force alone', async () => {
  const first = await registry.push('moving/tool', 'latest', 'first');
  const image = `${registry.host}/moving/tool`;
  const { id } = await ada.register({ image });
  assert.equal((await ada.pulled(id)).imageDigest, first);

  const second = await registry.push('moving/tool', 'latest', 'second');
  const asked = registry.asked();
  for (const same of [image, `${image}:latest`]) {
    const record = await put(id, { image: same, force: false });
    assert.equal(record.status, 'READY');
    assert.equal(record.revision, 1);
    assert.equal(record.imageDigest, first);
  }
  assert.equal(registry.asked(), asked);

  const submitted = await put(id, { image, force: true });
  assert.equal(submitted.status, 'SUBMITTED');
  assert.equal(submitted.revision, 2);
  const record = await ada.pulled(id);
  assert.equal(record.status, 'READY');
  assert.equal(record.imageDigest, second);
  assert.equal(record.revision, 2);
});

test('Another name or tag is pulled, and mends a reactor in ERROR', async () => {
  const digest = await registry.push('mended/tool', '2', 'mended');
  const { id } = await ada.register({ image: `${registry.host}/mended/tool:1` });
  assert.equal((await ada.pulled(id)).status, 'ERROR');
  assert.equal((await put(id, { image: `${registry.host}/mended/tool:1` })).status, 'ERROR');
  const submitted = await put(id, { image: `${registry.host}/mended/tool:2` });
  assert.equal(submitted.status, 'SUBMITTED');
  assert.equal(submitted.statusMessage, '');
  assert.equal(submitted.revision, 2);
  const record = await ada.pulled(id);
  assert.equal(record.status, 'READY');
  assert.equal(record.imageDigest, digest);
});

test('While a pull is under way, the newest PUT wins', async () => {
  await registry.push('newest/tool', '1', 'older');
  const newer = await registry.push('newest/tool', '2', 'newer');
  const held = registry.hold();
  try {
    const { id } = await ada.register({ image: `${registry.host}/newest/tool:1` });
    await until('the first pull to ask for layers', () => held.waiting() > 0);
    await put(id, { image: `${registry.host}/newest/tool:2` });
    held.release();
    const record = await ada.pulled(id);
    assert.equal(record.imageDigest, newer);
    assert.equal(record.revision, 2);
  } finally {
    held.release();
  }
});

test('Force during a pull of the same image brings what the registry has now', async () => {
  await registry.push('forced/tool', '1', 'older');
  const image = `${registry.host}/forced/tool:1`;
  const held = registry.hold();
  try {
    const one = await ada.register({ image });
    const other = await ada.register({ image });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    const newer = await registry.push('forced/tool', '1', 'newer');
    await put(one.id, { image, force: true });
    held.release();
    assert.equal((await ada.pulled(one.id)).imageDigest, newer);
    assert.equal((await ada.pulled(other.id)).status, 'READY');
  } finally {
    held.release();
  }
});

test('PUTs at the same time leave one whole description, and count every pull', async () => {
  const { id } = await ada.register({ image: '127.0.0.1:1/tool:0' });
  const numbers = Array.from({ length: 8 }, (_, number) => number + 1);
  await Promise.all(
    numbers.map((number) =>
      put(id, { image: `127.0.0.1:1/tool:${number}`, description: String(number) }),
    ),
  );
  const record = await ada.pulled(id);
  assert.equal(record.revision, 9);
  assert.equal(record.image, `127.0.0.1:1/tool:${record.description}`);
  assert.equal(record.status, 'ERROR');
});
