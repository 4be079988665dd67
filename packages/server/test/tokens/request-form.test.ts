import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RunningService, startService } from '../harness/running-service.ts';
import { assertRefused, assertUncached, TokenArea } from '../harness/token-area.ts';

const form = 'application/x-www-form-urlencoded';

describe('how a request at /token must look', () => {
  let service: RunningService;
  let area: TokenArea;
  before(async () => {
    service = await startService();
    area = await TokenArea.open(service);
  });
  after(() => service.dispose());

  const raw = (body: string | Uint8Array<ArrayBuffer>, contentType: string | undefined = form) =>
    area.send('/token', {
      body,
      headers: { 'content-type': contentType, authorization: area.basic },
    });

  test('a form by POST is granted, uncached, with exactly the members of the contract', async () => {
    const reply = await raw('grant_type=client_credentials');
    assert.equal(reply.status, 200);
    assertUncached(reply);
    assert.deepEqual(Object.keys(reply.json()), ['access_token', 'token_type', 'expires_in']);
    assert.equal(reply.json().token_type, 'bearer');
    assert.equal(reply.json().expires_in, 14_400);
    assert.match(reply.json().access_token, /^rct_at_[0-9A-Za-z]{49}$/);
  });

  test('a charset beside the content type is tolerated', async () => {
    const reply = await raw('grant_type=client_credentials', `${form}; charset=UTF-8`);
    assert.equal(reply.status, 200);
  });

  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    test(`${method} is answered 405 with Allow: POST, as OAuth`, async () => {
      const reply = await area.send('/token', { method });
      assertRefused(reply, 405, 'invalid_request');
      assert.equal(reply.headers.get('allow'), 'POST');
    });
  }

  for (const contentType of ['application/json', 'text/plain', 'multipart/form-data', 'x']) {
    test(`content type ${contentType} is 400 invalid_request`, async () => {
      assertRefused(
        await raw('{"grant_type":"client_credentials"}', contentType),
        400,
        'invalid_request',
      );
    });
  }

  test('parameters in the address are ignored', async () => {
    const reply = await area.send('/token', {
      query: `?grant_type=client_credentials&client_id=${area.client.key}&client_secret=${area.client.secret}`,
    });
    assertRefused(reply, 401, 'invalid_client');
    const half = await area.token({}, { query: '?grant_type=client_credentials' });
    assertRefused(half, 400, 'invalid_request');
  });

  test('a body over 16 KiB is refused', async () => {
    assertRefused(
      await raw(`grant_type=client_credentials&x=${'y'.repeat(17_000)}`),
      413,
      'invalid_request',
    );
  });

  test('a parameter over 4096 characters is refused', async () => {
    assertRefused(
      await raw(`grant_type=client_credentials&x=${'y'.repeat(4097)}`),
      400,
      'invalid_request',
    );
  });

  test('32 parameters are taken and 33 refused', async () => {
    const many = (count: number) =>
      [
        'grant_type=client_credentials',
        ...Array.from({ length: count - 1 }, (_, n) => `p${n}=1`),
      ].join('&');
    assert.equal((await raw(many(32))).status, 200);
    assertRefused(await raw(many(33)), 400, 'invalid_request');
  });

  for (const twice of ['grant_type', 'scope', 'client_id', 'anything']) {
    test(`a repeated ${twice} is invalid_request`, async () => {
      const repeated = `${twice}=client_credentials&${twice}=client_credentials`;
      assertRefused(await raw(`grant_type=client_credentials&${repeated}`), 400, 'invalid_request');
    });
  }

  test('a parameter without a value counts as absent', async () => {
    assert.equal((await raw('grant_type=client_credentials&scope=')).status, 200);
    assertRefused(await raw('grant_type='), 400, 'invalid_request');
  });

  test('unknown parameters are ignored', async () => {
    assert.equal((await raw('grant_type=client_credentials&resource=x&audience=y')).status, 200);
  });

  for (const [what, body] of [
    ['NUL', 'x=%00'],
    ['CR', 'x=a%0Db'],
    ['LF', 'x=a%0Ab'],
    ['a quotation mark in the scope', 'scope=%22PRODUCTION%22'],
    ['a control character in the code', 'code=%07'],
    ['a letter beyond ASCII in the refresh token', 'refresh_token=%C3%A9'],
    ['broken percent-encoding', 'x=%zz'],
    ['percent-encoded bytes that are not UTF-8', 'x=%ff%fe'],
  ]) {
    test(`${what} is invalid_request`, async () => {
      assertRefused(await raw(`grant_type=client_credentials&${body}`), 400, 'invalid_request');
    });
  }

  test('raw bytes that are not UTF-8 are invalid_request', async () => {
    assertRefused(await raw(new Uint8Array([0x78, 0x3d, 0xff, 0xfe])), 400, 'invalid_request');
  });

  test('a missing grant_type is invalid_request, an unknown one unsupported_grant_type', async () => {
    assertRefused(await raw('scope=PRODUCTION'), 400, 'invalid_request');
    assertRefused(await raw('grant_type=magic'), 400, 'unsupported_grant_type');
    assertRefused(await raw('grant_type=__proto__'), 400, 'unsupported_grant_type');
  });

  test('what was sent is never echoed', async () => {
    const reply = await raw(
      'grant_type=surprise-surprise&code=surprise-surprise&scope=surprise-surprise',
    );
    assert.doesNotMatch(reply.text, /surprise/);
  });
});
