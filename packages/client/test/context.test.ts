import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Context } from '../src/container/context.ts';
import { ReactordError } from '../src/index.ts';

const told = { execution_id: 'e', actor_id: 'r', username: 'ada', api_server: 'http://localhost' };
const under = (prefix: string, more: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries({ ...told, ...more }).map(([name, value]) => [`${prefix}${name}`, value]),
  );

describe('the context of an execution', () => {
  test('is read from the ancestor’s variables where there are no others', () => {
    const about = { Content_Type: 'str', actor_state: '{"seen":1}', ce_type: 'made' };
    const old = new Context({ MSG: 'hello', ...under('_abaco_', about) });
    const { raw_message, execution_id, username, state, event } = old;
    assert.deepEqual(
      { raw_message, execution_id, username, state, event },
      {
        raw_message: 'hello',
        execution_id: 'e',
        username: 'ada',
        state: { seen: 1 },
        event: { type: 'made' },
      },
    );
    const both = new Context({ ...under('_abaco_'), ...under('_svc_', { username: 'bo' }) });
    assert.equal(both.username, 'bo');
  });

  test('has JSON that is no object, and none where it is text that looks like it', () => {
    const message = (type: string, MSG: string) =>
      new Context({ MSG, ...under('_svc_', { Content_Type: type }) });
    const list = message('application/json', '[1]');
    assert.deepEqual([list.raw_message, list.message_dict], [[1], undefined]);
    const text = message('str', '{"a":1}');
    assert.deepEqual([text.raw_message, text.message_dict], ['{"a":1}', undefined]);
    assert.equal(message('str', '').raw_message, '');
  });

  test('reads a message from its file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'reactord-message-'));
    try {
      const message_file = join(folder, 'message');
      writeFileSync(message_file, 'a\0b');
      const bytes = { Content_Type: 'application/octet-stream', message_file };
      assert.deepEqual(new Context(under('_svc_', bytes)).raw_message, new Uint8Array([97, 0, 98]));
      const text = { Content_Type: 'str', message_file };
      assert.equal(new Context(under('_svc_', text)).raw_message, 'a\0b');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('says what is missing, and shows no token', () => {
    const isCode = (code: string) => (error: unknown) =>
      error instanceof ReactordError && error.code === code;
    assert.throws(() => new Context({}), isCode('not_in_a_container'));
    assert.throws(() => new Context(under('_svc_')).client, isCode('no_token'));
    const context = new Context(under('_svc_', { access_token: 'secret token' }));
    assert.equal(context.access_token, 'secret token');
    assert.equal(context.client.baseUrl, 'http://localhost');
    assert.ok(!JSON.stringify(context).includes('secret'));
  });
});
