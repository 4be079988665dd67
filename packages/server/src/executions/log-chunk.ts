import type { OutputStream } from '../engines/engine.ts';
import { countLines, fitting, type LogChunk, partsOf, streamCode } from './log-lines.ts';

const mostBytes = 64 * 1024;
/** Many tiny writes at different times make more parts than bytes are worth. */
const mostParts = 2048;
/** A chunk that is still smaller than this when it is kept grows on, so that a slow log is not a row per line. */
const smallBytes = 8 * 1024;

/** The chunk that is being filled. */
export class OpenChunk {
  readonly start: number;
  #body = Buffer.allocUnsafe(1024);
  #size = 0;
  #triples: number[] = [];
  #lines = { stdout: 0, stderr: 0 };

  constructor(start: number) {
    this.start = start;
  }

  /** Goes on with a chunk that has been kept before. */
  static resume(kept: LogChunk): OpenChunk {
    const chunk = new OpenChunk(kept.start);
    for (const { stream, time, bytes } of partsOf(kept)) chunk.add(stream, time, bytes);
    return chunk;
  }

  get size(): number {
    return this.#size;
  }

  get end(): number {
    return this.start + this.#size;
  }

  get isSmall(): boolean {
    return this.#size < smallBytes && this.#triples.length < mostParts;
  }

  /** Too little room is left for a longest character, or for the word that stands for a secret. */
  get isFull(): boolean {
    return mostBytes - this.#size < 16 || this.#triples.length >= mostParts * 3;
  }

  /** Takes what fits, and says how many bytes that were. */
  add(stream: OutputStream, time: number, bytes: Uint8Array): number {
    const taken = fitting(bytes, mostBytes - this.#size);
    this.#reserve(this.#size + taken.length);
    this.#body.set(taken, this.#size);
    this.#size += taken.length;
    this.#lines[stream] += countLines(taken);
    this.#note(streamCode(stream), time, taken.length);
    return taken.length;
  }

  /** A copy of what there is, as the log database keeps it. */
  row() {
    return {
      start: this.start,
      size: this.#size,
      stdout_lines: this.#lines.stdout,
      stderr_lines: this.#lines.stderr,
      parts: JSON.stringify(this.#triples),
      body: new Uint8Array(this.#body.subarray(0, this.#size)),
    };
  }

  #note(code: number, time: number, length: number): void {
    const last = this.#triples.length - 3;
    const goesOn = last >= 0 && this.#triples[last] === code && this.#triples[last + 1] === time;
    if (goesOn) this.#triples[last + 2] = (this.#triples[last + 2] ?? 0) + length;
    else this.#triples.push(code, time, length);
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#body.length) return;
    const larger = Buffer.allocUnsafe(Math.min(mostBytes, Math.max(bytes, this.#body.length * 2)));
    this.#body.copy(larger, 0, 0, this.#size);
    this.#body = larger;
  }
}
