import type { OutputStream } from '../engine.ts';
import type { LogChunk } from './log-lines.ts';

interface Mark {
  readonly stamp: string;
  readonly time: number;
  /** How much was given out of what has this stamp. */
  bytes: number;
  /** When the log is read again: whether the marked place was passed. */
  isPassed: boolean;
}

/**
 * How far each stream of a log was given out. Counted from the last stamp and not from the first byte, since the oldest
 * part of a log may have been dropped between two readings.
 */
export class Marks {
  readonly #marks = new Map<OutputStream, Mark>();

  set({ stream, stamp, time, bytes }: LogChunk): void {
    const mark = this.#marks.get(stream);
    if (mark?.stamp === stamp) mark.bytes += bytes.length;
    else this.#marks.set(stream, { stamp, time, bytes: bytes.length, isPassed: false });
  }

  /** From which second on the log has to be read again; undefined for all of it. */
  since(): number | undefined {
    // A stream that nothing came of may have begun at any time.
    if (this.#marks.size < 2) return undefined;
    return Math.floor(Math.min(...[...this.#marks.values()].map(({ time }) => time)) / 1000);
  }

  /** What of this chunk was not given out yet, when the log is read again. */
  beyond({ stream, stamp, bytes }: LogChunk): Uint8Array {
    const mark = this.#marks.get(stream);
    if (mark === undefined) return bytes;
    if (stamp === mark.stamp) {
      mark.isPassed = true;
      const skipped = Math.min(mark.bytes, bytes.length);
      mark.bytes -= skipped;
      return bytes.subarray(skipped);
    }
    return mark.isPassed ? bytes : bytes.subarray(0, 0);
  }
}
