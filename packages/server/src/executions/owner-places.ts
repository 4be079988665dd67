/**
 * How many containers each user has on this machine. A reactor whose owner has as many as allowed steps aside, and is
 * told when one of them is gone: those that stepped aside first are first again.
 */
export class OwnerPlaces {
  readonly #taken = new Map<string, number>();
  readonly #aside = new Map<string, Set<string>>();
  readonly #wake: (reactorId: string) => void;

  constructor(wake: (reactorId: string) => void) {
    this.#wake = wake;
  }

  /** False: there are as many as `most` already. */
  take(ownerId: string, reactorId: string, most: number | undefined): boolean {
    const taken = this.#taken.get(ownerId) ?? 0;
    if (most !== undefined && taken >= most) {
      const aside = this.#aside.get(ownerId) ?? new Set();
      this.#aside.set(ownerId, aside.add(reactorId));
      return false;
    }
    this.#taken.set(ownerId, taken + 1);
    return true;
  }

  /** Each one that is given back lets one reactor try again; when that has nothing to run, it gives back in turn. */
  giveBack(ownerId: string): void {
    const left = (this.#taken.get(ownerId) ?? 0) - 1;
    if (left > 0) this.#taken.set(ownerId, left);
    else this.#taken.delete(ownerId);
    this.passOn(ownerId);
  }

  /** The one that was to try has no use for it: the next may. */
  passOn(ownerId: string): void {
    const aside = this.#aside.get(ownerId);
    const first = aside?.values().next().value;
    if (aside === undefined || first === undefined) return;
    aside.delete(first);
    if (aside.size === 0) this.#aside.delete(ownerId);
    this.#wake(first);
  }
}
