import type { OutputChunk } from '../engine.ts';
import { beginsLine, waitsLine } from './wait-program.ts';

const everything = Buffer.concat([waitsLine, beginsLine]);
const nothing = new Uint8Array(0);

/**
 * What the waiting program of a spare has said, as far as its output was read. It speaks before the image's program, on
 * stderr alone; so whatever comes on stdout, or after its last words, is the program's.
 */
export class Said {
  #length = 0;
  #begun = false;
  #isStrange = false;

  get waits(): boolean {
    return this.#length >= waitsLine.length;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** Something else stands where its words should: it never ran, or they were dropped from a log that grew too large. */
  get isStrange(): boolean {
    return this.#isStrange;
  }

  /** What of this chunk is not its own. Chunks have to come in order, and each once. */
  leftOut({ stream, bytes }: Pick<OutputChunk, 'stream' | 'bytes'>): Uint8Array {
    if (bytes.length === 0) return nothing;
    if (stream === 'stdout') {
      this.#begun = true;
      return bytes;
    }
    if (this.#isStrange || this.#length === everything.length) return bytes;
    const length = Math.min(bytes.length, everything.length - this.#length);
    if (everything.compare(bytes, 0, length, this.#length, this.#length + length) !== 0) {
      this.#isStrange = true;
      return bytes;
    }
    this.#length += length;
    if (this.#length === everything.length) this.#begun = true;
    return bytes.subarray(length);
  }
}
