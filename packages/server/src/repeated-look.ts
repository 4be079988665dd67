/** Looks again and again whether there is something to do. Looks do not overlap. */
export class RepeatedLook {
  readonly #work: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isStopped = false;

  /** `work` never rejects. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(everyMs: number): void {
    void this.now();
    this.#timer = setInterval(() => void this.now(), everyMs);
    this.#timer.unref();
  }

  /** Resolves when the look that is under way is over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  now(): Promise<void> {
    this.#looking ??= this.#work().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }
}
