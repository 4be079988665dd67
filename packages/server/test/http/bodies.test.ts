import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Type } from 'typebox';
import { fail } from '../../src/errors.ts';
import type { App } from '../../src/http/app.ts';
import { StoreUnavailable } from '../../src/store/store-errors.ts';
import { openProbeApp } from '../harness/probe-app.ts';

const Probe = Type.Object(
  {
    clientName: Type.String({ minLength: 1, maxLength: 20 }),
    log_ex: Type.Optional(Type.Integer({ minimum: 1 })),
    stateless: Type.Optional(Type.Boolean()),
    tier: Type.Optional(Type.Enum(['Gold', 'Silver'])),
    hints: Type.Optional(Type.Array(Type.String())),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    port: Type.Optional(Type.Integer({ minimum: 1, allows: 'a port from 1 up' })),
  },
  { additionalProperties: false },
);

describe('a body', () => {
  let app: App;
  let dispose: () => Promise<void>;
  before(async () => {
    ({ app, dispose } = await openProbeApp());
    app.post(
      '/probe',
      { config: { answer: 'bare' }, schema: { body: Probe }, bodyLimit: 1000 },
      async (request) => request.body,
    );
    app.delete('/probe', { config: { answer: 'bare', message: 'Gone.' } }, async () => null);
    app.get('/probe/fault', { config: { answer: 'bare' } }, async () => {
      throw new Error('a secret detail');
    });
    app.get('/probe/away', { config: { answer: 'bare' } }, async () => {
      throw new StoreUnavailable('disk full');
    });
    app.get('/probe/known', { config: { answer: 'bare' } }, async () => {
      throw fail('conflict', { problem: 'It runs.' }).withHeaders({ 'retry-after': '7' });
    });
  });
  after(() => dispose());

  const post = async (payload: string | Buffer, type = 'application/json') => {
    const reply = await app.inject({
      method: 'POST',
      url: '/probe',
      payload,
      headers: { 'content-type': type },
    });
    return {
      status: reply.statusCode,
      body: JSON.parse(reply.body),
      message: JSON.parse(reply.body).message,
    };
  };
  const json = (value: unknown) => post(JSON.stringify(value));

  test('may be JSON or a form, in both spellings of its fields', async () => {
    const expected = { clientName: 'a', log_ex: 5, stateless: true, hints: ['x'] };
    assert.deepEqual(
      (await json({ client_name: 'a', logEx: 5, stateless: true, hints: ['x'] })).body,
      expected,
    );
    const form = 'client_name=a&log_ex=5&stateless=TRUE&hints=x';
    assert.deepEqual((await post(form, 'application/x-www-form-urlencoded')).body, expected);
    const charset = await post(
      'clientName=%C3%A9+%2B',
      'application/x-www-form-urlencoded; charset=UTF-8',
    );
    assert.deepEqual(charset.body, { clientName: 'é +' });
  });

  test('may repeat a form field to make a list, and give booleans as text', async () => {
    const repeated = await post(
      'clientName=a&hints=x&hints=y&stateless=0',
      'application/x-www-form-urlencoded',
    );
    assert.deepEqual(repeated.body, { clientName: 'a', hints: ['x', 'y'], stateless: false });
    assert.deepEqual((await json({ clientName: 'a', stateless: 'False' })).body, {
      clientName: 'a',
      stateless: false,
    });
  });

  const refused: [string, unknown, RegExp][] = [
    ['a missing field', {}, /^clientName: is required$/],
    ['a wrong type', { clientName: 5 }, /^clientName: must be string$/],
    ['a number as text in JSON', { clientName: 'a', log_ex: '5' }, /^log_ex: must be integer$/],
    [
      'a boolean that is neither',
      { clientName: 'a', stateless: 'maybe' },
      /^stateless: must be boolean$/,
    ],
    [
      'a choice that is none',
      { clientName: 'a', tier: 'Tin' },
      /^tier: takes one of Gold, Silver$/,
    ],
    [
      'a value with its own sentence',
      { clientName: 'a', port: 0 },
      /^port: takes a port from 1 up$/,
    ],
    ['a nested value', { clientName: 'a', env: { A: 1 } }, /^env\.A: must be string$/],
    [
      'a mistyped field',
      { clientNme: 'a' },
      /^clientNme is not a field of this operation \(did you mean clientName\?\)\./,
    ],
    [
      'a field in both spellings',
      { clientName: 'a', client_name: 'b' },
      /^client_name is not a field of this operation/,
    ],
    ['a list', [], /^The body: must be object$/],
    ['null', null, /^The body: must be object$/],
  ];
  for (const [what, value, message] of refused) {
    test(`with ${what} is refused by the field's name`, async () => {
      const reply = await json(value);
      assert.equal(reply.status, 400);
      assert.match(reply.message, message);
      assert.equal(reply.body.result, null);
    });
  }

  test('that is broken, empty, poisoned or not UTF-8 is 400, without quoting it', async () => {
    const broken = await post('{"password":"hunter2",}');
    assert.equal(broken.status, 400);
    assert.match(broken.message, /^The body is not valid JSON: /);
    assert.doesNotMatch(broken.message, /hunter2/);
    assert.match((await post('')).message, /^The body is empty\./);
    assert.match((await post('  ')).message, /^The body is empty\./);
    assert.equal((await post('{"__proto__":{"admin":true}}')).status, 400);
    assert.match((await post(Buffer.from([0x22, 0xff, 0x22]))).message, /it is not UTF-8/);
    const form = 'application/x-www-form-urlencoded';
    assert.match((await post('clientName=%zz', form)).message, /^The form body is malformed/);
    assert.match((await post('clientName=%ff', form)).message, /^The form body is malformed/);
    assert.match(
      (await post('__proto__=x&clientName=a', form)).message,
      /^__proto__ is not a field/,
    );
  });

  test('of another type is 415 and says what is taken; none at all is refused too', async () => {
    const xml = await post('<a/>', 'application/xml');
    assert.equal(xml.status, 415);
    assert.equal(
      xml.message,
      'This operation cannot take Content-Type application/xml. It takes: application/json, application/x-www-form-urlencoded.',
    );
    const none = await app.inject({ method: 'POST', url: '/probe' });
    assert.equal(none.statusCode, 400);
  });

  test('over the limit is 413 and names the limit', async () => {
    const large = await json({ clientName: 'a', env: { A: 'x'.repeat(2000) } });
    assert.equal(large.status, 413);
    assert.equal(
      large.message,
      'The body is larger than the 1000 bytes that this operation takes. Send less at once, or put it where it can be fetched and send its address.',
    );
  });

  test('of a reply that is null is null, or an envelope around null', async () => {
    const bare = await app.inject({ method: 'DELETE', url: '/probe' });
    assert.equal(bare.body, 'null');
    assert.match(bare.headers['content-type'] ?? '', /application\/json/);
    const enveloped = await app.inject({ method: 'DELETE', url: '/probe?naked=false' });
    assert.partialDeepStrictEqual(JSON.parse(enveloped.body), {
      status: 'success',
      message: 'Gone.',
      result: null,
    });
  });

  test('of an error of ours tells the request id and no detail', async () => {
    const fault = await app.inject({ url: '/probe/fault', headers: { 'x-request-id': 'r-1' } });
    assert.equal(fault.statusCode, 500);
    assert.equal(
      JSON.parse(fault.body).message,
      'Something failed inside the service. Tell the operator the request id r-1.',
    );
    assert.doesNotMatch(fault.body, /secret|at /);
    const away = await app.inject({ url: '/probe/away' });
    assert.equal(away.statusCode, 503);
    assert.equal(away.headers['retry-after'], '1');
    const known = await app.inject({ url: '/probe/known?pretty=true' });
    assert.equal(known.statusCode, 409);
    assert.equal(known.headers['retry-after'], '7');
    assert.match(known.body, /^\{\n {2}"status": "error"/);
  });
});
