import { sql } from 'kysely';
import type { Reactor } from '../reactors/reactor.ts';
import type { Store } from '../store/store.ts';

interface Use {
  /** Milliseconds. */
  readonly last: number;
  /** Until when it counts as busy; 0: it does not. */
  readonly busyUntil: number;
}

/** How many spare containers each reactor should have on this machine. */
export class SpareNeeds {
  readonly #idleMs: number;
  readonly #uses = new Map<string, Use>();
  /** What reactors always have ready, and their kept workers. */
  #kept: ReadonlyMap<string, number> = new Map();

  constructor(idleSeconds: number) {
    this.#idleMs = idleSeconds * 1000;
  }

  /** One of its executions has begun. Two within the limit, and it is busy: rare messages are not worth a container. */
  noteUse(reactorId: string, now = Date.now()): void {
    const before = this.#uses.get(reactorId);
    const isBusy = before !== undefined && now - before.last <= this.#idleMs;
    // At the end of the map, which is so in the order of use.
    this.#uses.delete(reactorId);
    this.#uses.set(reactorId, { last: now, busyUntil: isBusy ? now + this.#idleMs : 0 });
  }

  /** Milliseconds; 0: not lately. */
  lastUse(reactorId: string): number {
    return this.#uses.get(reactorId)?.last ?? 0;
  }

  /** Those that may want some, the one that was used last first. */
  candidates(now = Date.now()): readonly string[] {
    for (const [id, { last }] of this.#uses) {
      if (now - last <= this.#idleMs) break;
      this.#uses.delete(id);
    }
    return [...new Set([...[...this.#uses.keys()].reverse(), ...this.#kept.keys()])];
  }

  wanted({ id, warm }: Pick<Reactor, 'id' | 'warm'>, now = Date.now()): number {
    if (warm === 0) return 0;
    const kept = this.#kept.get(id) ?? 0;
    const isBusy = (this.#uses.get(id)?.busyUntil ?? 0) > now;
    const always = Math.max(kept, warm ?? 0);
    return warm === null && isBusy ? Math.max(always, 1) : always;
  }

  forget(reactorId: string): void {
    this.#uses.delete(reactorId);
  }

  /** Costs per reactor that keeps some. */
  async load({ read }: Store): Promise<void> {
    const rows = await read
      .selectFrom('reactors')
      .select(['id', 'warm', 'kept_workers'])
      // As the index has it, and nothing else: SQLite would rather go through all that are READY.
      .where(sql<boolean>`(warm > 0 or kept_workers > 0)`)
      .execute();
    this.#kept = new Map(
      rows.map(({ id, warm, kept_workers }) => [id, Math.max(warm ?? 0, kept_workers)]),
    );
  }
}
