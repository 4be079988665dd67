import type { OutputChunk, OutputStream } from '../engine.ts';
import { framesOf } from './frames.ts';

const space = 0x20;
const lineEnd = 0x0a;

export interface LogChunk extends OutputChunk {
  /** The time as the engine wrote it, finer than `time`: what tells a line from the one before. */
  readonly stamp: string;
}

/**
 * The engine's log with timestamps: each frame is one line, or a part of a very long one, after its time and a space.
 * A frame may come in pieces, and the first may end inside the time.
 *
 * Parts of one line carry the same time. Docker 20.10 forgets the line end after the last of them: it is put back when
 * the next line begins. After a last line of more than 16 KiB nobody can know whether there was one.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<LogChunk> {
  const before: Partial<Record<OutputStream, LogChunk>> = {};
  let stamp = '';
  let isStamping = true;
  for await (const { stream, bytes, isFirst } of framesOf(chunks)) {
    if (isFirst) {
      stamp = '';
      isStamping = true;
    }
    let content = bytes;
    if (isStamping) {
      const end = bytes.indexOf(space);
      stamp += bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
      if (end < 0) continue;
      isStamping = false;
      content = bytes.subarray(end + 1);
      const last = before[stream];
      if (last !== undefined && last.stamp !== stamp && last.bytes.at(-1) !== lineEnd)
        yield { ...last, bytes: Buffer.of(lineEnd) };
    }
    if (content.length === 0) continue;
    const chunk = { stream, time: Date.parse(stamp), stamp, bytes: content };
    before[stream] = chunk;
    yield chunk;
  }
}
