import { watch } from 'node:fs';
import { open } from 'node:fs/promises';
import type { SentDatagram, SentDatagrams } from '../engine.ts';

const headerBytes = 4;
/** The holder drops what is longer; a length above it is no length. */
const longest = 512 * 1024;
const stepBytes = 1024 * 1024;

/** What a holder has gathered for one container: a file of lengths and datagrams in turn. */
export class SpooledDatagrams implements SentDatagrams {
  readonly #spool: string;
  readonly #ring: () => Promise<void>;

  constructor(spool: string, ring: () => Promise<void>) {
    this.#spool = spool;
    this.#ring = ring;
  }

  /** A step of the file at a time, however much of it there is. */
  async *read(from: number): AsyncGenerator<SentDatagram> {
    const file = await open(this.#spool, 'r');
    try {
      const step = Buffer.alloc(stepBytes);
      for (let place = from; ; ) {
        const { bytesRead } = await file.read(step, 0, step.length, place);
        let at = 0;
        while (at + headerBytes <= bytesRead) {
          const length = step.readUInt32LE(at);
          if (length > longest) return;
          const end = at + headerBytes + length;
          if (end > bytesRead) break;
          const bytes = Buffer.from(step.subarray(at + headerBytes, end));
          at = end;
          if (length > 0) yield { bytes, next: place + end };
        }
        // The rest is a datagram that is just being written, or nothing.
        if (at === 0) return;
        place += at;
      }
    } finally {
      await file.close();
    }
  }

  onMore(listener: () => void): () => void {
    try {
      const watcher = watch(this.#spool, { persistent: false }, listener);
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    } catch {
      // A machine that is out of watches: everything is read at the end.
      return () => undefined;
    }
  }

  complete(): Promise<void> {
    return this.#ring();
  }
}
