import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { launchService, startService } from '../harness/running-service.ts';

const metadataOf = async (url: string, host?: string) => {
  const reply = await fetch(`${url}/.well-known/oauth-authorization-server`, {
    ...(host !== undefined && { headers: { 'x-forwarded-host': host } }),
  });
  assert.equal(reply.status, 200);
  return JSON.parse(await reply.text());
};

describe('what the service says about itself', () => {
  test('the metadata name every endpoint under the issuer', async (t) => {
    const service = await startService();
    t.after(service.dispose);
    const metadata = await metadataOf(service.url, 'evil.example.org');
    assert.equal(metadata.issuer, service.url);
    for (const [name, path] of [
      ['authorization_endpoint', '/authorize'],
      ['token_endpoint', '/token'],
      ['revocation_endpoint', '/revoke'],
      ['introspection_endpoint', '/introspect'],
      ['device_authorization_endpoint', '/device_authorization'],
    ] as const)
      assert.equal(metadata[name], service.url + path);
    assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
    assert.equal(metadata.authorization_response_iss_parameter_supported, true);
    assert.deepEqual(metadata.scopes_supported, ['PRODUCTION']);
    assert.deepEqual(metadata.response_types_supported, ['code', 'token']);
    assert.ok(metadata.grant_types_supported.includes('password'));
    const description = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    assert.deepEqual(Object.keys(description.components.securitySchemes).sort(), [
      'basic',
      'bearer',
      'clientSecret',
      'nonce',
      'oauth2',
    ]);
    assert.ok(description.paths['/token'].post);
    const [first] = description.paths['/profiles/v2/me'].get.security;
    assert.deepEqual(first, { bearer: [] });
  });

  test('flows that are switched off are not offered, and the issuer is the base_url', async (t) => {
    const service = await startService({
      environment: {
        REACTORD_PASSWORD_FLOW: 'false',
        REACTORD_IMPLICIT_FLOW: 'false',
      },
    });
    t.after(service.dispose);
    const metadata = await metadataOf(service.url);
    assert.deepEqual(metadata.response_types_supported, ['code']);
    assert.ok(!metadata.grant_types_supported.includes('password'));
    assert.ok(!metadata.grant_types_supported.includes('implicit'));
  });

  for (const [what, environment, sentence] of [
    [
      'an http base_url on another machine',
      { REACTORD_BASE_URL: 'http://reactors.example.org' },
      /base_url is http on a host that is not this machine/,
    ],
    [
      'assertion keys without issuer and audience',
      { REACTORD_ASSERTION_KEYS: '/nonexistent.json' },
      /assertion_keys needs assertion_issuer and assertion_audience/,
    ],
    [
      'assertion keys that cannot be read',
      {
        REACTORD_ASSERTION_KEYS: '/nonexistent.json',
        REACTORD_ASSERTION_ISSUER: 'gateway',
        REACTORD_ASSERTION_AUDIENCE: 'reactord',
      },
      /assertion_keys: \/nonexistent\.json is not a readable JSON Web Key Set/,
    ],
    [
      'assertion keys over http',
      {
        REACTORD_ASSERTION_KEYS: 'http://gateway.example.org/keys',
        REACTORD_ASSERTION_ISSUER: 'gateway',
        REACTORD_ASSERTION_AUDIENCE: 'reactord',
      },
      /assertion_keys takes an https address/,
    ],
  ] as const) {
    test(`${what}: the service does not start, and says why`, async (t) => {
      const service = launchService({ environment });
      t.after(service.dispose);
      assert.equal(await service.ended, 2);
      assert.match(service.errors(), sentence);
    });
  }
});
