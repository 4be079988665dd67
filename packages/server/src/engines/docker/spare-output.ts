import type { ContainerOutput, OutputChunk } from '../engine.ts';
import { Said } from './said.ts';

/** What a spare writes, attached before it started: first the words of its waiting program, which nobody else sees. */
export class SpareOutput {
  readonly #raw: ContainerOutput;
  readonly #chunks: AsyncIterator<OutputChunk>;
  readonly #said = new Said();
  /** What the program wrote while this one still looked for the last words before it. */
  readonly #early: OutputChunk[] = [];

  constructor(raw: ContainerOutput) {
    this.#raw = raw;
    this.#chunks = raw[Symbol.asyncIterator]();
  }

  /** Resolves when the container waits. False: it has ended, or something else runs in it. */
  waits(): Promise<boolean> {
    return this.#readUntil(() => this.#said.waits);
  }

  /** Resolves when the container has everything that it waited for. False: it has ended without. */
  begins(): Promise<boolean> {
    return this.#readUntil(() => this.#said.begun);
  }

  close(): void {
    this.#raw.close();
  }

  /** Everything that the program writes. Its first chunk is awaited at once: it has the time at which it came. */
  ofProgram(): ContainerOutput {
    const first = this.#chunks.next();
    first.catch(() => {});
    const read = () => this.#read(first);
    return { close: () => this.close(), [Symbol.asyncIterator]: read };
  }

  async *#read(first: Promise<IteratorResult<OutputChunk>>): AsyncGenerator<OutputChunk> {
    try {
      yield* this.#early.splice(0);
      for (let next = first; ; next = this.#chunks.next()) {
        const { value, done } = await next;
        if (done === true) return;
        const bytes = this.#said.leftOut(value);
        if (bytes.length > 0) yield { ...value, bytes };
      }
    } finally {
      this.close();
    }
  }

  async #readUntil(holds: () => boolean): Promise<boolean> {
    while (!holds()) {
      const { value, done } = await this.#chunks.next();
      if (done === true) return false;
      const bytes = this.#said.leftOut(value);
      if (bytes.length > 0) this.#early.push({ ...value, bytes });
      if (this.#said.isStrange) return false;
    }
    return true;
  }
}
