import type { Reactor } from './reactor.ts';

const most = 10_000;

/**
 * The reactors that were asked for lately, and the aliases by which they were, so that posting a message costs no read.
 * When it is full, the one that was remembered first goes.
 */
export class ReactorMemory {
  readonly #known = new Map<string, Reactor>();
  readonly #aliases = new Map<string, string>();
  readonly #aliasesOf = new Map<string, Set<string>>();
  #changes = 0;

  get(id: string): Reactor | undefined {
    return this.#known.get(id);
  }

  byAlias(alias: string): Reactor | undefined {
    const id = this.#aliases.get(alias);
    return id === undefined ? undefined : this.#known.get(id);
  }

  /**
   * Reads and remembers, also under the alias, unless something changed during the read: what came of it may be
   * outdated.
   */
  async load(
    alias: string | undefined,
    read: () => Promise<Reactor | undefined>,
  ): Promise<Reactor | undefined> {
    const before = this.#changes;
    const found = await read();
    if (found === undefined || this.#changes !== before) return found;
    if (this.#known.size >= most) this.#forgetFirst();
    this.#known.set(found.id, found);
    if (alias !== undefined) this.#remember(alias, found.id);
    return found;
  }

  forget(id: string): void {
    this.#changes += 1;
    this.#drop(id);
  }

  /** What the user owns, and what they may use. */
  forgetAllOf(userId: string): void {
    this.#changes += 1;
    for (const { id, ownerId, permissions } of this.#known.values()) {
      if (ownerId === userId || permissions.has(userId)) this.#drop(id);
    }
    // Those of the user go with them; whose they are is not remembered.
    this.#aliases.clear();
    this.#aliasesOf.clear();
  }

  #remember(alias: string, id: string): void {
    if (this.#aliases.size >= most) {
      this.#aliases.clear();
      this.#aliasesOf.clear();
    }
    this.#aliases.set(alias, id);
    const others = this.#aliasesOf.get(id);
    if (others === undefined) this.#aliasesOf.set(id, new Set([alias]));
    else others.add(alias);
  }

  #drop(id: string): void {
    this.#known.delete(id);
    for (const alias of this.#aliasesOf.get(id) ?? []) this.#aliases.delete(alias);
    this.#aliasesOf.delete(id);
  }

  #forgetFirst(): void {
    for (const id of this.#known.keys()) {
      this.#drop(id);
      return;
    }
  }
}
