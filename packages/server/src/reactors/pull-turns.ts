/** How many pulls run at once, and how many of one owner: nobody holds up the others with registries that do not answer. */
const mostAtOnce = 32;
const mostOfOne = 4;

interface Waiting {
  readonly ownerId: string;
  readonly begin: () => void;
}

export class PullTurns {
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<string, number>();
  #all = 0;

  /** Does the work when its turn comes; gives the turn up when the signal is aborted before. */
  async take<Result>(
    ownerId: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await this.#turn(ownerId, signal);
    try {
      return await work();
    } finally {
      this.#count(ownerId, -1);
      this.#next();
    }
  }

  #turn(ownerId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    const waiting = {
      ownerId,
      begin: () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      },
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.push(waiting);
    this.#next();
    return promise;
  }

  #next(): void {
    while (this.#all < mostAtOnce) {
      const at = this.#waiting.findIndex(
        ({ ownerId }) => (this.#running.get(ownerId) ?? 0) < mostOfOne,
      );
      const [first] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (first === undefined) return;
      this.#count(first.ownerId, 1);
      first.begin();
    }
  }

  #count(ownerId: string, by: 1 | -1): void {
    this.#all += by;
    const running = (this.#running.get(ownerId) ?? 0) + by;
    if (running === 0) this.#running.delete(ownerId);
    else this.#running.set(ownerId, running);
  }
}
