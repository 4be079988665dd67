import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { basic } from '../harness/clients-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, TokenArea } from '../harness/token-area.ts';

describe('how a client proves itself at the OAuth endpoints', () => {
  let service: RunningService;
  let area: TokenArea;
  let credentials: { client_id: string; client_secret: string };
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
    credentials = { client_id: area.client.key, client_secret: area.client.secret };
  });
  after(() => service.dispose());

  const grant = { grant_type: 'client_credentials' };
  const by = (authorization: string, form = {}) =>
    area.token({ ...grant, ...form }, { headers: { authorization } });

  test('HTTP Basic, with the scheme in any case', async () => {
    assert.equal((await by(area.basic)).status, 200);
    assert.equal((await by(area.basic.replace('Basic', 'bAsIC'))).status, 200);
  });

  test('client_id and client_secret in the body', async () => {
    assert.equal((await area.token({ ...grant, ...credentials }, { headers: {} })).status, 200);
  });

  test('form-encoded inside Basic, as the RFC wants it, and raw, as curl sends it', async () => {
    const encoded = area.client.secret.replaceAll('_', '%5F');
    assert.equal((await by(basic(area.client.key, encoded))).status, 200);
    assert.equal((await by(basic(area.client.key, area.client.secret))).status, 200);
  });

  test('both ways at once are invalid_request, even when they agree', async () => {
    assertRefused(await by(area.basic, credentials), 400, 'invalid_request');
  });

  test('the same client_id in the body beside Basic is tolerated, another one is not', async () => {
    assert.equal((await by(area.basic, { client_id: area.client.key })).status, 200);
    assertRefused(await by(area.basic, { client_id: 'another' }), 400, 'invalid_request');
  });

  test('an unknown client and a wrong secret are answered alike: 401 with a Basic challenge', async () => {
    const unknown = await by(basic('A'.repeat(28), area.client.secret));
    const wrong = await by(basic(area.client.key, `${area.client.secret}x`));
    for (const reply of [unknown, wrong]) {
      assertRefused(reply, 401, 'invalid_client');
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Basic realm="reactord"/);
    }
    assert.equal(unknown.text, wrong.text);
    assertRefused(
      await area.token({ ...grant, ...credentials, client_secret: 'x' }, { headers: {} }),
      401,
      'invalid_client',
    );
  });

  for (const header of [
    'Basic',
    'Basic ',
    'Basic !!!',
    'Basic QUJD',
    `Basic ${Buffer.from([0xff, 0x3a]).toString('base64')}`,
    'Bearer abc',
    'Digest x',
  ]) {
    test(`Authorization: ${header} is invalid_client`, async () => {
      assertRefused(await by(header), 401, 'invalid_client');
    });
  }

  test('no credentials at all, or only half of them, are invalid_client', async () => {
    assertRefused(await area.token(grant, { headers: {} }), 401, 'invalid_client');
    const half = await area.token({ ...grant, client_id: area.client.key }, { headers: {} });
    assertRefused(half, 401, 'invalid_client');
    // A verifier is no proof of a client, whatever the library thinks.
    const pkce = { grant_type: 'authorization_code', code_verifier: 'v'.repeat(43), code: 'x' };
    const bare = await area.token({ ...pkce, client_id: area.client.key }, { headers: {} });
    assertRefused(bare, 401, 'invalid_client');
  });

  test('the client is checked before the grant is looked at', async () => {
    const reply = await area.token(
      { grant_type: 'magic' },
      { headers: { authorization: basic('a', 'b') } },
    );
    assertRefused(reply, 401, 'invalid_client');
  });

  for (const path of ['/revoke', '/introspect', '/device_authorization']) {
    test(`${path} asks for the same proof`, async () => {
      assertRefused(await area.post(path, { token: 'x' }, { headers: {} }), 401, 'invalid_client');
      assertRefused(await area.post(path, { token: 'x', ...credentials }), 400, 'invalid_request');
    });
  }

  test('after a deletion the client is unknown at once', async () => {
    const short = await TokenArea.open(service);
    const { access_token: token } = await short.granted(grant);
    assert.equal((await short.me(token)).status, 200);
    const reply = await fetch(`${service.url}/clients/v2/${short.client.name}`, {
      method: 'DELETE',
      headers: { authorization: basic('admin', 'correct horse battery') },
    });
    assert.equal(reply.status, 200);
    assertRefused(await short.token(grant), 401, 'invalid_client');
    assert.equal((await short.me(token)).status, 401);
  });
});
