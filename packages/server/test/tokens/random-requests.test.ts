import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { basic } from '../harness/clients-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { TokenArea } from '../harness/token-area.ts';

const names = [
  'grant_type',
  'code',
  'redirect_uri',
  'code_verifier',
  'client_id',
  'client_secret',
  'username',
  'password',
  'scope',
  'refresh_token',
  'device_code',
  'token',
  'token_type_hint',
  '__proto__',
  'constructor',
];

const grantTypes = [
  'authorization_code',
  'password',
  'client_credentials',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
  'implicit',
  'toString',
];

describe('whatever is sent to the OAuth endpoints', () => {
  let service: RunningService;
  let area: TokenArea;
  let secrets: readonly string[];
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
    const tokens = (await area.exchange(await area.code())).json();
    secrets = [
      tokens.access_token,
      tokens.refresh_token,
      await area.code(),
      area.client.key,
      area.client.secret,
    ];
  });
  after(() => service.dispose());

  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom('', '\0', '\r\n', '%', '%zz', 'PRODUCTION', '{"a":1}', '𝒳', 'a'.repeat(5000)),
  );
  const value = fc.oneof(
    text,
    fc.constantFrom(...grantTypes),
    fc.nat(4).map((place) => ({ place })),
  );
  const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), value), {
    maxLength: 40,
  });
  const body = fc.oneof(
    { weight: 5, arbitrary: pairs.map((list) => ({ pairs: list })) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ bytes })) },
    { weight: 1, arbitrary: text.map((raw) => ({ raw })) },
  );
  const contentType = fc.oneof(
    { weight: 8, arbitrary: fc.constant('application/x-www-form-urlencoded') },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'application/json',
        'text/plain',
        'x',
        'application/x-www-form-urlencoded;charset=utf-16',
        ';;;',
      ),
    },
  );
  const authorization = fc.oneof(
    fc.constant('proper'),
    fc.constant(undefined),
    fc.constantFrom('Basic', 'Basic =', 'Bearer x', 'Negotiate', 'Basic Og=='),
    fc.tuple(fc.string(), fc.string()).map(([key, secret]) => basic(key, secret)),
    fc.base64String().map((encoded) => `Basic ${encoded}`),
  );
  const query = fc.oneof(
    fc.constant(''),
    fc.webQueryParameters().map((given) => `?${given}`),
  );

  for (const path of ['/token', '/revoke', '/introspect', '/device_authorization']) {
    test(`${path} never fails inside, and every refusal is uncached JSON with an error`, async () => {
      await fc.assert(
        fc.asyncProperty(
          body,
          contentType,
          authorization,
          query,
          async (sent, type, proof, asked) => {
            const reply = await area.send(path, {
              body: encode(sent, secrets),
              query: asked,
              headers: {
                'content-type': type,
                ...(proof !== undefined && {
                  authorization: proof === 'proper' ? area.basic : proof,
                }),
              },
            });
            assert.ok(reply.status < 500, reply.text);
            assert.equal(reply.headers.get('cache-control'), 'no-store');
            assert.equal(reply.headers.get('pragma'), 'no-cache');
            assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
            const answer = reply.json();
            if (reply.status === 200) return;
            assert.equal(typeof answer.error, 'string', reply.text);
            assert.match(answer.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
            assert.equal(reply.headers.has('www-authenticate'), reply.status === 401);
          },
        ),
        { numRuns: 300 },
      );
    });
  }

  test('and the service is as well as before', async () => {
    assert.doesNotMatch(service.output(), /"level":50/);
    assert.equal((await fetch(`${service.url}/health`)).status, 200);
  });
});

type Sent =
  | { readonly pairs: readonly (readonly [string, string | { readonly place: number }])[] }
  | { readonly bytes: Uint8Array }
  | { readonly raw: string };

function encode(sent: Sent, secrets: readonly string[]): string | Uint8Array<ArrayBuffer> {
  if ('raw' in sent) return sent.raw;
  if ('bytes' in sent) return new Uint8Array(sent.bytes);
  const form = new URLSearchParams();
  for (const [name, given] of sent.pairs)
    form.append(name, typeof given === 'string' ? given : (secrets[given.place] ?? ''));
  return form.toString();
}
