/** Smaller messages are handed over whenever they like. */
const largeBytes = 1024 * 1024;

/** Large messages are in memory while they are handed over to their containers: one at a time. */
export class LargeTurns {
  #last: Promise<void> = Promise.resolve();

  /** Does the work when its turn comes. */
  async take<Result>(
    bytes: number,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (bytes < largeBytes) return work();
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      signal.throwIfAborted();
      return await work();
    } finally {
      resolve();
    }
  }
}
