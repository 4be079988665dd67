import type { Reactor } from './reactor.ts';

const most = 10_000;

/**
 * The reactors that were asked for lately, so that posting a message costs no read. When it is full, the one that was
 * remembered first goes.
 */
export class ReactorMemory {
  readonly #known = new Map<string, Reactor>();
  #changes = 0;

  get(id: string): Reactor | undefined {
    return this.#known.get(id);
  }

  /** Reads and remembers, unless something changed during the read: what came of it may be outdated. */
  async load(id: string, read: () => Promise<Reactor | undefined>): Promise<Reactor | undefined> {
    const before = this.#changes;
    const found = await read();
    if (found === undefined || this.#changes !== before) return found;
    if (this.#known.size >= most) this.#forgetFirst();
    this.#known.set(id, found);
    return found;
  }

  forget(id: string): void {
    this.#changes += 1;
    this.#known.delete(id);
  }

  forgetAllOf(ownerId: string): void {
    this.#changes += 1;
    for (const { id, ownerId: owner } of this.#known.values()) {
      if (owner === ownerId) this.#known.delete(id);
    }
  }

  #forgetFirst(): void {
    for (const id of this.#known.keys()) {
      this.#known.delete(id);
      return;
    }
  }
}
