import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ImageRegistry, openImageRegistry } from '../harness/image-registry.ts';
import { forgetImage } from '../harness/images.ts';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

let registry: ImageRegistry;
let service: RunningService;
let ada: ReactorsCaller;
let bob: ReactorsCaller;
let image: string;

before(async () => {
  registry = await openImageRegistry();
  service = await startService();
  ada = await reactorsCaller(service, 'ada');
  bob = await reactorsCaller(service, 'bob');
  await registry.push('team/private', '1', 'private');
  registry.credentials = { username: 'robot', password: 's3cret:word' };
  image = `${registry.host}/team/private:1`;
});
after(async () => {
  await service.dispose();
  await registry.close();
});

async function secret(name: string, value: unknown, isSecret = true): Promise<void> {
  const json = { name, value, is_secret: isSecret };
  const reply = await ada.call('POST', '/configs', { json });
  assert.equal(reply.status, 201, reply.text);
}

test('A private image is pulled with the secret that its owner names', async () => {
  await secret('AS_TEXT', 'robot:s3cret:word');
  await secret('AS_JSON', { username: 'robot', password: 's3cret:word' });
  await secret('WRONG', 'robot:another');
  const refused = await ada.pulled((await ada.register({ image })).id);
  assert.match(refused.statusMessage, /refuses the pull: log in with registry credentials/);
  for (const name of ['AS_TEXT', 'AS_JSON']) {
    const { id } = await ada.register({ image, registryCredentials: name });
    const record = await ada.pulled(id);
    assert.equal(record.status, 'READY', record.statusMessage);
    assert.equal(record.registryCredentials, name);
    await ada.call('DELETE', `/${id}`);
    await forgetImage(image);
  }
  const { id } = await ada.register({ image, registry_credentials: 'WRONG' });
  const wrong = await ada.pulled(id);
  assert.equal(wrong.status, 'ERROR');
  assert.match(wrong.statusMessage, /credentials are not valid/);
  // Naming others is reason enough to try again.
  await ada.call('PUT', `/${id}`, { json: { image, registry_credentials: 'AS_TEXT' } });
  assert.equal((await ada.pulled(id)).status, 'READY');
  assert.doesNotMatch(service.output() + service.errors(), /s3cret/);
});

test('What is no secret with credentials is refused, and one that has gone is said in words', async () => {
  await secret('PLAIN', 'robot:s3cret:word', false);
  await secret('NO_COLON', 'robot');
  await secret('GOING', 'robot:s3cret:word');
  for (const [name, words] of [
    ['NOTHING', /^registry_credentials: There is no config called NOTHING/],
    ['PLAIN', /^registry_credentials: The config PLAIN is not a secret/],
    ['NO_COLON', /^registry_credentials: The secret NO_COLON is neither/],
    ['a b', /^registry_credentials: takes the name/],
  ] as const) {
    const json = { image, registry_credentials: name };
    const reply = await ada.call('POST', '', { json });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.json().message, words);
  }
  const elsewhere = await bob.call('POST', '', { json: { image, registry_credentials: 'GOING' } });
  assert.equal(elsewhere.status, 400);
  const { id } = await ada.register({ image, registry_credentials: 'GOING' });
  assert.equal((await ada.pulled(id)).status, 'READY');
  await ada.call('DELETE', '/configs/GOING');
  await forgetImage(image);
  // The next execution needs the image, which has to be pulled again.
  assert.equal((await ada.call('POST', `/${id}/messages?message=x`)).status, 201);
  const failed = await until('the reactor to be in ERROR', async () => {
    const record = await ada.show(id);
    return record.status === 'ERROR' && record;
  });
  assert.match(failed.statusMessage, /registry_credentials: There is no config called GOING/);
});

test('Others who may change the reactor cannot send a secret of its owner elsewhere', async () => {
  await secret('OWNERS', 'robot:s3cret:word');
  const { id } = await ada.register({ image, registry_credentials: 'OWNERS' });
  assert.equal((await ada.pulled(id)).status, 'READY');
  const json = { user: 'bob', level: 'UPDATE' };
  assert.equal((await ada.call('POST', `/${id}/permissions`, { json })).status, 200);
  const put = (fields: object) => bob.call('PUT', `/${id}`, { json: fields });
  for (const fields of [
    { image, registry_credentials: 'AS_TEXT' },
    { image: 'evil.example.org/tool', registry_credentials: 'OWNERS' },
  ]) {
    const reply = await put(fields);
    assert.equal(reply.status, 403, reply.text);
    assert.match(reply.json().message, /only the owner ada can name a secret/);
  }
  const kept = await put({ image, registry_credentials: 'OWNERS', description: 'new' });
  assert.equal(kept.status, 200, kept.text);
});
