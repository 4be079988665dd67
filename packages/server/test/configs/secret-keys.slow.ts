import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SecretBox } from '../../src/secrets/secret-box.ts';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { logged } from '../harness/logged.ts';
import { launchService } from '../harness/running-service.ts';

test('What is sealed opens with its key, in its place, and not when a bit was changed', () => {
  const [key, newer] = [randomBytes(32), randomBytes(32)];
  const box = new SecretBox(key);
  for (const secret of ['', 'ä', 'x'.repeat(100_000)]) {
    const sealed = box.seal(secret, 'here');
    assert.equal(box.open(sealed, 'here', 'It'), secret);
    assert.equal(new SecretBox(newer, [key]).open(sealed, 'here', 'It'), secret);
    assert.throws(() => box.open(sealed, 'elsewhere', 'It'), /^ServiceError: It is encrypted/);
    assert.throws(
      () => new SecretBox(newer).open(sealed, 'here', 'It'),
      new RegExp(`It is encrypted with the key ${box.keyId}, which this service does not have`),
    );
    for (let at = 0; at < Math.min(sealed.sealed.length, 40); at += 1) {
      const broken = Buffer.from(sealed.sealed);
      broken[at] = (broken[at] ?? 0) ^ 1;
      assert.throws(() => box.open({ ...sealed, sealed: broken }, 'here', 'It'));
    }
    assert.throws(() => box.open({ ...sealed, sealed: new Uint8Array(3) }, 'here', 'It'));
  }
  const [one, other] = [box.seal('same', 'here'), box.seal('same', 'here')];
  assert.notDeepEqual(one.sealed, other.sealed);
});

let scene: Scene;
let ada: Sender;
before(async () => {
  scene = await openScene();
  ada = await scene.user('ada');
});
after(() => scene.dispose());

const json = (body: unknown) => ({ body: JSON.stringify(body), type: 'application/json' });

test('Keys are replaced without a loss, and a key that is missing is said in words', async () => {
  const image = scene.image.reference;
  const id = await ada.register({
    image,
    default_environment: { RUN: '[ "$WORD" = "a secret word" ] && echo "it is"' },
  });
  const made = await ada.call(
    'POST',
    '/configs',
    json({ name: 'WORD', value: 'a secret word', is_secret: true, actors: id }),
  );
  assert.equal(made.status, 201, made.text);
  const nonce = (await ada.call('POST', `/${id}/nonces`, json({}))).json().result.id;
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')];
  const quiet = { REACTORD_PULL_POLICY: 'missing' };

  // From the generated key to one of the operator's: what the file has is known still, and encrypted anew.
  await scene.restart('SIGTERM', { environment: { ...quiet, REACTORD_SECRETS_KEY: first } });
  await logged(scene.service, /"secrets":2.*encrypted with the new key/);
  assert.equal((await ada.runOnce(id)).log, 'it is\n');
  rmSync(join(scene.service.data, 'secrets.key'));

  // To another key, without the old one.
  await scene.restart('SIGTERM', { environment: { ...quiet, REACTORD_SECRETS_KEY: second } });
  await logged(scene.service, /encrypted with a key that this service does not have/);
  const { record } = await ada.runOnce(id);
  assert.equal(record.status, 'ERROR');
  assert.match(
    record.statusMessage,
    /^could not be run: The secret WORD is encrypted with the key/,
  );
  assert.equal((await ada.call('GET', '/configs/WORD')).status, 200);
  assert.equal((await ada.call('GET', `/${id}/nonces`)).json().result[0].id, null);
  const byNonce = await fetch(`${scene.service.url}/actors/v2/${id}?x-nonce=${nonce}`);
  assert.equal(byNonce.status, 200);

  // And with the old one.
  const both = { REACTORD_SECRETS_KEY: second, REACTORD_SECRETS_OLD_KEYS: first };
  await scene.restart('SIGTERM', { environment: { ...quiet, ...both } });
  await logged(scene.service, /"secrets":2.*encrypted with the new key/);
  assert.equal((await ada.runOnce(id)).log, 'it is\n');
  assert.equal((await ada.call('GET', `/${id}/nonces`)).json().result[0].id, nonce);
});

test('A key that is none ends the start without being shown', async () => {
  const started = launchService({ environment: { REACTORD_SECRETS_KEY: 'not-a-key-at-all' } });
  try {
    assert.notEqual(await started.ended, 0);
    assert.match(started.errors(), /SECRETS_KEY.*32 bytes, as base64 or hex/);
    assert.doesNotMatch(started.errors() + started.output(), /not-a-key-at-all/);
  } finally {
    await started.dispose();
  }
});
