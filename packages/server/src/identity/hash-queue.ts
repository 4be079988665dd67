import { fail } from '../errors.ts';

interface Limits {
  /** How many run at a time. A hash takes 19 MiB and a core. */
  readonly running: number;
  /** How many may wait; the next one is told to come again later. */
  readonly waiting: number;
}

/** Keeps the hashing of passwords from taking all memory and all cores: few at a time, a bounded queue before them. */
export class HashQueue {
  readonly #limits: Limits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: Limits = { running: 2, waiting: 64 }) {
    this.#limits = limits;
  }

  async run<Value>(hash: () => Promise<Value>): Promise<Value> {
    await this.#turn();
    try {
      return await hash();
    } finally {
      this.#next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= this.#limits.waiting) {
      throw fail('busy').withHeaders({ 'retry-after': '1' });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place is handed on, not given up: whoever waits longest has it. */
  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
