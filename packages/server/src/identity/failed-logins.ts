interface Allowance {
  /** Failures that cost nothing: people mistype. */
  readonly free: number;
  /** The delay doubles with each failure after those, from one second up to this many. */
  readonly mostSeconds: number;
  /** After so long without a failure the earlier ones are forgotten. */
  readonly memoryMs: number;
  /** The most keys that are kept; past that, the one without a failure for longest goes. */
  readonly keys: number;
}

interface Failures {
  count: number;
  last: number;
  /** Until then no attempt is let through. */
  until: number;
}

/**
 * Counts failed logins under a key and makes the next attempt wait, longer each time and never for ever.
 * An attempt is counted when it begins, so that a hundred at once are a hundred, and taken back when it succeeds.
 */
export class FailedLogins {
  readonly #allowance: Allowance;
  /** In the order of the last failure. */
  readonly #failures = new Map<string, Failures>();

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  /** For how many milliseconds no attempt is let through. */
  waitFor(key: string, now: number): number {
    return Math.max(0, (this.#recent(key, now)?.until ?? 0) - now);
  }

  count(key: string, now: number): void {
    const { free, mostSeconds, keys } = this.#allowance;
    const count = (this.#recent(key, now)?.count ?? 0) + 1;
    const seconds = count <= free ? 0 : Math.min(2 ** (count - free - 1), mostSeconds);
    this.#failures.delete(key);
    this.#failures.set(key, { count, last: now, until: now + seconds * 1000 });
    if (this.#failures.size > keys) {
      for (const oldest of this.#failures.keys()) {
        this.#failures.delete(oldest);
        break;
      }
    }
  }

  /**
   * The attempt was none of an attacker's. A delay stays: or else whoever has an account could end with it the delay
   * that guesses at another's have earned.
   */
  takeBack(key: string): void {
    const failures = this.#failures.get(key);
    if (failures === undefined) return;
    if (failures.count <= 1) this.#failures.delete(key);
    else failures.count -= 1;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  get size(): number {
    return this.#failures.size;
  }

  #recent(key: string, now: number): Failures | undefined {
    const failures = this.#failures.get(key);
    if (failures === undefined || now - failures.last < this.#allowance.memoryMs) return failures;
    this.#failures.delete(key);
    return undefined;
  }
}
