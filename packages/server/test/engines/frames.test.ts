import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BrokenFrame, framesOf } from '../../src/engines/docker/frames.ts';
import { linesOf } from '../../src/engines/docker/log-lines.ts';
import { Marks } from '../../src/engines/docker/marks.ts';

interface Frame {
  readonly stream: 'stdout' | 'stderr';
  readonly content: Buffer;
}

function encode(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.flatMap(({ stream, content }) => {
      const header = Buffer.alloc(8);
      header[0] = stream === 'stdout' ? 1 : 2;
      header.writeUInt32BE(content.length, 4);
      return [header, content];
    }),
  );
}

/** The bytes in chunks that end at these places. */
async function* cut(bytes: Buffer, places: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const place of [...places.filter((one) => one < bytes.length), bytes.length].toSorted(
    (one, other) => one - other,
  )) {
    yield bytes.subarray(from, place);
    from = place;
  }
}

const anyFrame = fc.record({
  stream: fc.constantFrom<Frame['stream'][]>('stdout', 'stderr'),
  content: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
});
const anyPlaces = fc.array(fc.nat(800), { maxLength: 60 });

async function joined(
  chunks: AsyncIterable<{ stream: Frame['stream']; bytes: Uint8Array }>,
): Promise<Record<Frame['stream'], string>> {
  const all = { stdout: '', stderr: '' };
  for await (const { stream, bytes } of chunks) all[stream] += Buffer.from(bytes).toString('hex');
  return all;
}

function expected(frames: readonly Frame[]): Record<Frame['stream'], string> {
  const all = { stdout: '', stderr: '' };
  for (const { stream, content } of frames) all[stream] += content.toString('hex');
  return all;
}

describe('frames of the engine', () => {
  test('come out the same wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { maxLength: 20 }), anyPlaces, async (frames, places) => {
        assert.deepEqual(await joined(framesOf(cut(encode(frames), places))), expected(frames));
      }),
    );
  });

  test('that break off, in a header or in a content, are told as broken', async () => {
    const whole = encode([{ stream: 'stdout', content: Buffer.from('hello') }]);
    for (let length = 1; length < whole.length; length++) {
      await assert.rejects(joined(framesOf(cut(whole.subarray(0, length), []))), BrokenFrame);
    }
  });

  test('of a gigabyte and more are handed out in pieces, not collected', async () => {
    const header = Buffer.from('01000000ffffffff', 'hex');
    let seen = 0;
    const chunks = async function* (): AsyncGenerator<Buffer> {
      yield header;
      for (;;) yield Buffer.alloc(65_536);
    };
    for await (const { bytes } of framesOf(chunks())) {
      assert.ok(bytes.length <= 65_536);
      seen += bytes.length;
      if (seen > 10_000_000) break;
    }
  });
});

describe('lines of a log', () => {
  const line = (stream: Frame['stream'], second: number, text: string): Frame => ({
    stream,
    content: Buffer.from(`2026-01-02T03:04:${String(second).padStart(2, '0')}.000000001Z ${text}`),
  });

  test('lose their time and nothing else, wherever the chunks are cut', async () => {
    const frames = [
      line('stdout', 1, 'a b\n'),
      line('stderr', 2, ' x\n'),
      line('stdout', 3, 'end'),
    ];
    await fc.assert(
      fc.asyncProperty(anyPlaces, async (places) => {
        const read = await joined(linesOf(cut(encode(frames), places)));
        assert.equal(Buffer.from(read.stdout, 'hex').toString(), 'a b\nend');
        assert.equal(Buffer.from(read.stderr, 'hex').toString(), ' x\n');
      }),
    );
  });

  test('get the end back that the engine forgets after the parts of a long one', async () => {
    const frames = [line('stdout', 1, 'long'), line('stdout', 1, 'er'), line('stdout', 2, 'next')];
    const read = await joined(linesOf(cut(encode(frames), [])));
    assert.equal(Buffer.from(read.stdout, 'hex').toString(), 'longer\nnext');
  });

  test('that were given out are known when the log is read again, also after its beginning was dropped', async () => {
    const all = [1, 2, 3, 4, 5].map((second) => line('stdout', second, `line ${second}\n`));
    for (let given = 0; given <= all.length; given++) {
      for (let dropped = 0; dropped <= Math.max(0, given - 1); dropped++) {
        const marks = new Marks();
        for await (const chunk of linesOf(cut(encode(all.slice(0, given)), []))) marks.set(chunk);
        let rest = '';
        for await (const chunk of linesOf(cut(encode(all.slice(dropped)), [7, 40, 90])))
          rest += Buffer.from(marks.beyond(chunk)).toString();
        const missing = [1, 2, 3, 4, 5].slice(given).map((second) => `line ${second}\n`);
        assert.equal(rest, missing.join(''));
      }
    }
  });
});
