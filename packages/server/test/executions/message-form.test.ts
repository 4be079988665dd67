import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readMessage } from '../../src/executions/message.ts';

const form = 'application/x-www-form-urlencoded';

async function read(body: string | Uint8Array, contentType = form) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const message = await readMessage({ contentType, body: bytes, queryMessage: undefined });
  return {
    type: message.contentType,
    body: Buffer.from(message.body).toString('utf8'),
    shown: message.shown,
  };
}

const text = (value: string) => ({ type: 'str', body: value, shown: value });

describe('the field message of a form', () => {
  test('as it stands, where nothing is escaped', async () => {
    for (const value of [
      'hello',
      'a=b',
      'größer € 𝒳',
      ' ',
      'message=message=',
      '\u0000',
      '{"a":1}',
    ])
      assert.deepEqual(await read(`message=${value}`), text(value));
  });

  test('unescaped, and found among others', async () => {
    assert.deepEqual(await read('message=a%20b+c'), text('a b c'));
    assert.deepEqual(await read('message=100%25'), text('100%'));
    assert.deepEqual(await read('message=%C3%BC'), text('ü'));
    assert.deepEqual(await read('message=one&other=two'), text('one'));
    assert.deepEqual(await read('other=two&message=one'), text('one'));
    assert.deepEqual(await read('m%65ssage=one'), text('one'));
  });

  test('in another charset, or behind a byte order mark', async () => {
    const latin1 = Buffer.from('message=caf\u00e9', 'latin1');
    assert.deepEqual(await read(latin1, `${form}; charset=iso-8859-1`), text('café'));
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('message=hello')]);
    assert.deepEqual(await read(marked), text('hello'));
  });

  test('missing, empty, twice or broken: refused with its name', async () => {
    const refusals: readonly [string | Uint8Array, RegExp][] = [
      ['message=', /message: is empty/],
      ['message', /message: is empty/],
      ['massage=x', /message: is required/],
      ['message=a&message=b', /message: is given more than once/],
      ['message=%zz', /percent-encoding/],
      [Buffer.from('message=\xff', 'latin1'), /not valid utf-8/],
    ];
    for (const [body, words] of refusals) await assert.rejects(() => read(body), words);
  });
});
