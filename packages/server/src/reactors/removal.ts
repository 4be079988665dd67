import { setTimeout as pause } from 'node:timers/promises';
import type { AccessChanges } from '../identity/access-changes.ts';
import type { Store } from '../store/store.ts';
import type { Reactor } from './reactor.ts';
import { deleteReactor, markShuttingDown, reactorFrom, selectReactors } from './reactor-rows.ts';
import type { Reactors } from './reactors.ts';

export interface RemovalParts {
  readonly store: Store;
  readonly reactors: Reactors;
  readonly changes: Pick<AccessChanges, 'onChange'>;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  readonly tending: { begin(id: string): void; end(id: string): void };
}

/** Who removes what nobody asked to be removed: reactors of users that are gone, and removals after a restart. */
export const service = 'the service';
const firstRetryMs = 500;
const longestRetryMs = 10_000;
const stopMs = 2_000;

/** Takes reactors away: first the status says so, then what runs is stopped and what waits dropped, then the row goes. */
export class Removal {
  readonly #parts: RemovalParts;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(parts: RemovalParts) {
    this.#parts = parts;
    parts.changes.onChange(({ kind, subject }) => {
      if (kind === 'user') void this.#removeOrphans(subject);
    });
  }

  /** Resolves when the reactor is gone. From the first commit on, it will go, whatever happens to this process. */
  async remove(reactor: Reactor, by: string): Promise<void> {
    const { id } = reactor;
    const now = Date.now();
    await this.#parts.reactors.commit(id, markShuttingDown({ id, now }));
    await this.finish(id, by);
  }

  /** Goes on with a removal whose first step is done. */
  finish(id: string, by = service): Promise<void> {
    let running = this.#underWay.get(id);
    if (running === undefined) {
      this.#parts.tending.begin(id);
      running = this.#finish(id, by).finally(() => {
        this.#underWay.delete(id);
        this.#parts.tending.end(id);
      });
      this.#underWay.set(id, running);
    }
    return running;
  }

  /** Users may have been deleted while nobody looked. */
  start(): void {
    void this.#removeOrphans();
  }

  /** What is not done in a moment is finished at the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const ended = Promise.allSettled(this.#underWay.values());
    await Promise.race([ended, pause(stopMs, undefined, { ref: false })]);
  }

  async #finish(id: string, by: string): Promise<void> {
    const { reactors, log } = this.#parts;
    let waitMs = firstRetryMs;
    while (!this.#stop.signal.aborted) {
      try {
        const reactor = await this.#read(id);
        if (reactor === undefined) return;
        await reactors.tellRemoving(reactor, by);
        await reactors.commit(id, deleteReactor({ id }));
        log.info({ reactor: id, by }, 'reactor removed');
        return;
      } catch (error) {
        log.warn({ err: error, reactor: id }, 'removing a reactor failed; trying again');
      }
      await pause(waitMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
      waitMs = Math.min(waitMs * 2, longestRetryMs);
    }
  }

  /** Of one user, or of all that are gone. */
  async #removeOrphans(ownerId?: string): Promise<void> {
    try {
      let query = selectReactors(this.#parts.store.read).where('users.id', 'is', null);
      if (ownerId !== undefined) query = query.where('reactors.owner_id', '=', ownerId);
      for (const row of await query.execute()) {
        if (this.#stop.signal.aborted) return;
        await this.remove(reactorFrom(row), service);
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'removing the reactors of deleted users failed');
    }
  }

  async #read(id: string): Promise<Reactor | undefined> {
    const row = await selectReactors(this.#parts.store.read)
      .where('reactors.id', '=', id)
      .executeTakeFirst();
    return row && reactorFrom(row);
  }
}
