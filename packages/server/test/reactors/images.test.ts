import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SettingError } from '../../src/config-sources.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { RegistryLogins } from '../../src/reactors/registry-credentials.ts';
import { freePort } from '../harness/free-port.ts';
import { type ImageRegistry, openImageRegistry } from '../harness/image-registry.ts';
import { engineAddress, forgetImage, makeTestImage } from '../harness/images.ts';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { launchService, type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

let registry: ImageRegistry;
let service: RunningService;
let ada: ReactorsCaller;
let folder: string;
const engine = new DockerEngine({ address: engineAddress, environment: process.env });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reactord-images-'));
  registry = await openImageRegistry();
  service = await startService();
  ada = await reactorsCaller(service, 'ada');
});
after(async () => {
  await service.dispose();
  await registry.close();
  await engine.close();
  rmSync(folder, { recursive: true });
});

async function pushed(repository: string, tag = '1', content = repository): Promise<string> {
  const image = `${registry.host}/${repository}:${tag}`;
  await registry.push(repository, tag, content);
  return image;
}

test('A registered image is pulled, and the record has its digest', async () => {
  const image = `${registry.host}/pulled/tool:1`;
  const digest = await registry.push('pulled/tool', '1', 'pulled');
  const { id, status } = await ada.register({ image });
  assert.equal(status, 'SUBMITTED');
  const record = await ada.pulled(id);
  assert.equal(record.status, 'READY', record.statusMessage);
  assert.equal(record.statusMessage, '');
  assert.equal(record.imageDigest, digest);
  assert.equal(record.imageId, (await engine.findImage(image))?.id);
  assert.equal(record.revision, 1);
});

test('An image that its registry does not have is an ERROR in words', async () => {
  const image = `${registry.host}/no/such:2`;
  const record = await ada.pulled((await ada.register({ image })).id);
  assert.equal(record.status, 'ERROR');
  assert.equal(record.statusMessage, `image ${image} was not found in registry ${registry.host}`);
  assert.equal(record.imageDigest, null);
});

test('A registry that cannot be reached is an ERROR in words', async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const record = await ada.pulled((await ada.register({ image: `${host}/tool` })).id);
  assert.equal(record.status, 'ERROR');
  assert.match(record.statusMessage, new RegExp(`registry ${host} cannot be reached`));
});

test('An image that only the engine has is used, and the record says why', async () => {
  const made = await makeTestImage();
  try {
    const record = await ada.pulled((await ada.register({ image: made.reference })).id);
    assert.equal(record.status, 'READY');
    assert.equal(record.imageId, (await engine.findImage(made.reference))?.id);
    assert.equal(record.imageDigest, null);
    assert.match(record.statusMessage, /^The copy at hand.*: (registry|image) /);
  } finally {
    await made.remove();
  }
});

test('A private registry takes the credentials of the operator, and nobody else gets in', async () => {
  const shut = await openImageRegistry();
  const path = join(folder, 'config.json');
  const auth = Buffer.from('robot:s3cret:word').toString('base64');
  writeFileSync(path, JSON.stringify({ auths: { [`https://${shut.host}/v1/`]: { auth } } }));
  const trusted = await startService({ environment: { REACTORD_REGISTRY_AUTH: path } });
  try {
    await shut.push('team/secret', '1', 'secret');
    shut.credentials = { username: 'robot', password: 's3cret:word' };
    const image = `${shut.host}/team/secret:1`;
    const without = await ada.pulled((await ada.register({ image })).id);
    assert.equal(without.status, 'ERROR');
    assert.match(without.statusMessage, /refuses the pull: log in with registry credentials/);

    const caller = await reactorsCaller(trusted, 'bea');
    const withThem = await caller.pulled((await caller.register({ image })).id);
    assert.equal(withThem.status, 'READY', withThem.statusMessage);

    shut.credentials = { username: 'robot', password: 'another' };
    await forgetImage(image);
    const wrong = await caller.pulled((await caller.register({ image })).id);
    assert.equal(wrong.status, 'ERROR');
    assert.match(wrong.statusMessage, /credentials are not valid/);
    assert.doesNotMatch(trusted.output() + trusted.errors() + wrong.statusMessage, /s3cret/);

    rmSync(path);
    const broken = await caller.pulled((await caller.register({ image })).id);
    assert.equal(broken.status, 'ERROR');
    assert.match(broken.statusMessage, /file of registry credentials cannot be read/);
    assert.doesNotMatch(broken.statusMessage, /config\.json/);
  } finally {
    await trusted.dispose();
    await shut.close();
  }
});

test('A file of credentials that is not one ends the start, and is named', async () => {
  const path = join(folder, 'text.json');
  writeFileSync(path, 'hello');
  const started = launchService({ environment: { REACTORD_REGISTRY_AUTH: path } });
  try {
    assert.notEqual(await started.ended, 0);
    assert.match(started.errors(), /registry_auth: .*text\.json/);
    assert.doesNotMatch(started.errors(), /\n +at /);
  } finally {
    await started.dispose();
  }
});

test('Credentials are read as docker login writes them, and the spelling of the registry does not matter', async () => {
  const path = join(folder, 'logins.json');
  const entry = (pair: string) => ({ auth: Buffer.from(pair).toString('base64') });
  const write = (content: unknown) => writeFileSync(path, JSON.stringify(content));
  write({
    auths: {
      'https://index.docker.io/v1/': entry('hub:one'),
      'registry.example.org:5000': { username: 'plain', password: 'two' },
      'https://quay.example.org': entry('quay:three:four'),
    },
  });
  const logins = await RegistryLogins.open(path);
  const hub = { username: 'hub', password: 'one' };
  assert.deepEqual(await logins.forImage('busybox'), hub);
  assert.deepEqual(await logins.forImage('docker.io/team/tool:1'), hub);
  assert.deepEqual(await logins.forImage('index.docker.io/team/tool'), hub);
  assert.deepEqual(await logins.forImage('registry.example.org:5000/tool'), {
    username: 'plain',
    password: 'two',
  });
  assert.deepEqual(await logins.forImage('quay.example.org/tool@sha256:'.concat('a'.repeat(64))), {
    username: 'quay',
    password: 'three:four',
  });
  assert.equal(await logins.forImage('registry.example.org/tool'), undefined);
  // A later login is seen without a restart.
  write({ auths: { 'registry.example.org': entry('late:five') } });
  assert.deepEqual(await logins.forImage('registry.example.org/tool'), {
    username: 'late',
    password: 'five',
  });
  for (const wrong of [
    'text',
    {},
    { auths: null },
    { auths: { 'registry.example.org': {} }, credsStore: 'desktop' },
    { auths: { 'registry.example.org': entry('nocolon') } },
  ]) {
    write(wrong);
    await assert.rejects(RegistryLogins.open(path), (error) => {
      assert.ok(error instanceof SettingError);
      assert.match(error.message, /registry_auth: .*logins\.json/);
      assert.doesNotMatch(error.message, /nocolon/);
      return true;
    });
  }
  await assert.rejects(RegistryLogins.open(join(folder, 'missing.json')), SettingError);
});

test('With pull_policy missing, a copy at hand is enough, and force asks the registry', async () => {
  const image = await pushed('policy/tool');
  await engine.pull(image);
  const thrifty = await startService({ environment: { REACTORD_PULL_POLICY: 'missing' } });
  try {
    const caller = await reactorsCaller(thrifty, 'bea');
    const before = registry.asked();
    const { id } = await caller.register({ image });
    const record = await caller.pulled(id);
    assert.equal(record.status, 'READY');
    assert.equal(record.statusMessage, '');
    assert.match(record.imageDigest, /^sha256:/);
    assert.equal(registry.asked(), before);

    const digest = await registry.push('policy/tool', '1', 'newer');
    await caller.call('PUT', `/${id}`, { json: { image, force: true } });
    assert.equal((await caller.pulled(id)).imageDigest, digest);

    const absent = await pushed('policy/absent');
    const other = await caller.pulled((await caller.register({ image: absent })).id);
    assert.equal(other.status, 'READY', other.statusMessage);
  } finally {
    await thrifty.dispose();
  }
});

test('Many registrations of one image at once cost one pull', async () => {
  const image = await pushed('shared/tool');
  const held = registry.hold();
  const before = registry.asked();
  try {
    const ids = await Promise.all(
      Array.from({ length: 4 }, async () => (await ada.register({ image })).id),
    );
    await until('the pull to ask for layers', () => held.waiting() > 0);
    held.release();
    for (const id of ids) assert.equal((await ada.pulled(id)).status, 'READY');
    // A pull asks once by tag and at most once more by digest.
    assert.ok(registry.asked() - before <= 2, `${registry.asked() - before} times`);
  } finally {
    held.release();
  }
});

test('The record tells how far the pull is', async () => {
  const image = await pushed('slow/tool');
  const held = registry.hold();
  try {
    const { id } = await ada.register({ image });
    await until('the progress to show', async () =>
      /^pulling: 0 of 1 layer/.test((await ada.show(id)).statusMessage),
    );
    held.release();
    const record = await ada.pulled(id);
    assert.equal(record.status, 'READY');
    assert.equal(record.statusMessage, '');
  } finally {
    held.release();
  }
});

test('A pull goes on after the service was killed in the middle of it', async () => {
  const image = await pushed('killed/tool');
  const held = registry.hold();
  let mortal = await startService();
  try {
    const caller = await reactorsCaller(mortal, 'bea');
    const { id } = await caller.register({ image });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    mortal.signal('SIGKILL');
    await mortal.ended;
    mortal = await startService({ data: mortal.data });
    assert.equal((await caller.at(mortal).show(id)).status, 'SUBMITTED');
    held.release();
    assert.equal((await caller.at(mortal).pulled(id)).status, 'READY');
  } finally {
    held.release();
    await mortal.dispose();
  }
});

test('A service that is told to stop in the middle of a pull stops, and goes on later', async () => {
  const image = await pushed('stopped/tool');
  const held = registry.hold();
  let service = await startService();
  try {
    const caller = await reactorsCaller(service, 'bea');
    const { id } = await caller.register({ image });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    service.signal('SIGTERM');
    assert.equal(await service.ended, 0);
    held.release();
    service = await startService({ data: service.data });
    assert.equal((await caller.at(service).pulled(id)).status, 'READY');
  } finally {
    held.release();
    await service.dispose();
  }
});
