import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ServerEventReader } from '../src/streams/server-sent-events.ts';

const stream = [
  ': a comment',
  'retry: 1500',
  '',
  'event: log',
  'id: 12',
  'data: {"text":"grüße 🎉"}',
  '',
  'data: first',
  'data:second',
  'data',
  '',
  'event: nothing to say',
  '',
  'id',
  'data:  two spaces',
  'unknown: field',
  '',
  'data: not complete',
].join('\n');

const expected = [
  { retryMs: 1500 },
  { event: 'log', id: '12', data: '{"text":"grüße 🎉"}' },
  { event: 'message', id: '12', data: 'first\nsecond\n' },
  { event: 'message', id: '', data: ' two spaces' },
];

test('server-sent events are read wherever their pieces are cut, with any line end', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
  const cuts = fc.array(fc.nat({ max: stream.length * 2 }), { maxLength: 20 });
  fc.assert(
    fc.property(lineEnd, cuts, (end, places) => {
      const bytes = new TextEncoder().encode(stream.replaceAll('\n', end));
      const sorted = [0, ...places.filter((at) => at < bytes.length), bytes.length];
      sorted.sort((a, b) => a - b);
      const reader = new ServerEventReader();
      const said = sorted.flatMap((at, index) => [
        ...reader.read(bytes.subarray(at, sorted[index + 1] ?? bytes.length)),
      ]);
      assert.deepEqual(said, expected);
    }),
  );
});
