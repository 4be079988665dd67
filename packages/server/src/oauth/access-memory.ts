/** Something that was true when the store was asked. `live` turns false once it may no longer be. */
export interface Remembered<Value> {
  readonly value: Value;
  live: boolean;
}

/**
 * A bounded memory by key; when it is full, the oldest entry goes. Whoever holds on to an entry sees by `live` that
 * it was forgotten, so that what was concluded from it need not be searched for.
 */
export class BoundedMemory<Value> {
  readonly #most: number;
  readonly #entries = new Map<string, Remembered<Value>>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Remembered<Value> | undefined {
    return this.#entries.get(key);
  }

  remember(key: string, value: Value): Remembered<Value> {
    this.forget(key);
    if (this.#entries.size >= this.#most) this.#forgetOldest();
    const entry = { value, live: true };
    this.#entries.set(key, entry);
    return entry;
  }

  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.live = false;
    this.#entries.delete(key);
  }

  #forgetOldest(): void {
    for (const oldest of this.#entries.keys()) {
      this.forget(oldest);
      return;
    }
  }
}
