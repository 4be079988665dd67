import type { OutputChunk } from '../engine.ts';
import { framesOf } from './frames.ts';

const space = 0x20;

export interface LogChunk extends OutputChunk {
  /** The time as the engine wrote it, finer than `time`: what tells a line from the one before. */
  readonly stamp: string;
}

/**
 * The engine's log with timestamps: each frame is one line, or a part of a very long one, after its time and a space.
 * A frame may come in pieces, and the first may end inside the time.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<LogChunk> {
  let stamp = '';
  let isStamping = true;
  let time = 0;
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
      time = Date.parse(stamp);
      content = bytes.subarray(end + 1);
    }
    if (content.length > 0) yield { stream, time, stamp, bytes: content };
  }
}
