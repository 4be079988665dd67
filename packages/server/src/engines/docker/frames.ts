import type { OutputStream } from '../engine.ts';

const headerLength = 8;

/** A piece of one frame. Frames may be larger than memory should hold, so they come in pieces as they arrive. */
export interface FramePiece {
  readonly stream: OutputStream;
  readonly bytes: Buffer;
  readonly isFirst: boolean;
}

/** The engine broke off in the middle of a frame. */
export class BrokenFrame extends Error {
  override readonly message = 'its output breaks off in the middle of a frame';
}

/**
 * Takes apart the engine's multiplexed output: frames of an 8-byte header (stream, three zeros, length as big-endian
 * 32 bits) and that many bytes. Chunks may be cut anywhere, also inside a header.
 */
export async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<FramePiece> {
  let header = Buffer.alloc(0);
  let stream: OutputStream = 'stdout';
  let left = 0;
  let isFirst = true;
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      if (left > 0) {
        const bytes = chunk.subarray(0, left);
        chunk = chunk.subarray(bytes.length);
        left -= bytes.length;
        yield { stream, bytes, isFirst };
        isFirst = false;
      } else {
        const missing = headerLength - header.length;
        header = Buffer.concat([header, chunk.subarray(0, missing)]);
        chunk = chunk.subarray(missing);
        if (header.length < headerLength) continue;
        stream = header[0] === 2 ? 'stderr' : 'stdout';
        left = header.readUInt32BE(4);
        isFirst = true;
        header = Buffer.alloc(0);
      }
    }
  }
  if (left > 0 || header.length > 0) throw new BrokenFrame();
}
