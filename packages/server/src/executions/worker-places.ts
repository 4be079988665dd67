import { hostname } from 'node:os';
import { newId } from '../ids.ts';
import type { Store } from '../store/store.ts';
import type { ClaimingWorker } from './claim.ts';
import type { Execution } from './execution.ts';
import {
  keepAtLeast,
  keepAtMostReady,
  makeUpTo,
  makeWithClaim,
  noteCheck,
  noteUse,
  removeSurplus,
  removeWorker,
  removeWorkersOf,
  sayGoing,
  workersOfInstance,
} from './worker-rows.ts';

interface Parts {
  readonly store: Store;
  readonly instance: string;
  /** Seconds. */
  readonly idleLimit: number;
  readonly log: { warn(facts: object, message: string): void };
}

interface Place {
  readonly id: string;
  readonly reactorId: string;
  /** Its row is there, or on its way with a claim. */
  isKept: boolean;
  /** Taken by a claim; with what runs in it once that has won something. */
  taken: boolean;
  run: string | undefined;
  going: boolean;
  /** Milliseconds; when it was made, or last given back. */
  usedAt: number;
  usedSince: boolean;
}

const longestPauseMs = 60_000;

/** The next try of an execution may begin in the same place before the end of the last one has been told twice. */
const runOf = ({ id, attempt }: Execution): string => `${id} ${attempt}`;

/**
 * The workers of this machine: places in which executions run, one after the other. Which one a claim takes is decided
 * in memory, the lowest that is free, so that a claim asks the store for nothing more; a row is written when a place is
 * first used. What the rows say of their use follows later.
 */
export class WorkerPlaces {
  readonly #parts: Parts;
  readonly #places = new Map<string, Place[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** With what an earlier process of this service has left. */
  async load(): Promise<void> {
    for (const row of await workersOfInstance(this.#parts.store, this.#parts.instance)) {
      const known = this.#find(row.reactor_id, row.id);
      if (known !== undefined) continue;
      const place = this.#add(row.reactor_id, row.id, true);
      place.usedAt = row.last_execution_at ?? row.created_at;
      place.going = row.status === 'SHUTTING_DOWN';
    }
  }

  start(): void {
    const pause = Math.min(longestPauseMs, Math.max(500, this.#parts.idleLimit * 500));
    this.#timer = setInterval(() => void this.tidy(), pause);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The lowest place of the reactor that is free, or a new one. Not for others until it is given back. */
  take(reactorId: string): ClaimingWorker {
    const free = this.#places.get(reactorId)?.find(({ taken, going }) => !taken && !going);
    const place = free ?? this.#add(reactorId, newId(), false);
    place.taken = true;
    const { instance } = this.#parts;
    const row = { id: place.id, reactorId, instance, location: hostname(), now: Date.now() };
    return { id: place.id, make: place.isKept ? undefined : makeWithClaim(row) };
  }

  /** What came of the claim. */
  claimed(reactorId: string, workerId: string, execution: Execution | undefined): void {
    const place = this.#find(reactorId, workerId);
    if (place === undefined) return;
    if (execution !== undefined) {
      place.isKept = true;
      place.run = runOf(execution);
      return;
    }
    place.taken = false;
    if (!place.isKept) this.#forget(place);
  }

  /** Something runs in it that was not claimed by this process. */
  occupy(execution: Execution): void {
    const place = this.#find(execution.reactorId, execution.workerId ?? '');
    if (place === undefined) return;
    place.taken = true;
    place.run = runOf(execution);
  }

  /** The execution is over or given back. May be told twice. */
  free(execution: Execution): void {
    const place = this.#find(execution.reactorId, execution.workerId ?? '');
    if (place?.run !== runOf(execution)) return;
    place.taken = false;
    place.run = undefined;
    place.usedAt = Date.now();
    place.usedSince = true;
    if (place.going) void this.#remove(place);
  }

  /** When something last ran in it, where this process knows better than the store. */
  lastUse(reactorId: string, workerId: string): number | undefined {
    const place = this.#find(reactorId, workerId);
    return place?.usedSince === true ? place.usedAt : undefined;
  }

  /** False: the reactor is not there any more. */
  async keep(reactorId: string, least: number): Promise<boolean> {
    const { store, instance } = this.#parts;
    const ids = Array.from({ length: least }, () => newId());
    const now = Date.now();
    const [kept, ...made] = await store.write(
      keepAtLeast({ reactorId, least }),
      ...ids.map((id) => makeUpTo({ id, reactorId, instance, location: hostname(), now, least })),
    );
    for (const [at, id] of ids.entries())
      if (made[at]?.affected === 1) this.#add(reactorId, id, true);
    return kept.affected === 1;
  }

  /** An idle one goes at once, a busy one after its execution. */
  async remove(reactorId: string, workerId: string, isBusy: boolean): Promise<void> {
    const { store } = this.#parts;
    const place = this.#find(reactorId, workerId);
    if (place !== undefined) place.going = true;
    await store.write(sayGoing({ id: workerId }), keepAtMostReady({ reactorId }));
    if (place === undefined) {
      // Another machine's: it notices by itself, and removes what is busy when that is over.
      if (!isBusy) await store.write(removeWorker({ id: workerId }));
    } else if (!place.taken) await this.#remove(place);
  }

  async forgetReactor(reactorId: string): Promise<void> {
    this.#places.delete(reactorId);
    await this.#quietly(() => this.#parts.store.write(removeWorkersOf({ reactorId })));
  }

  /** Writes what has changed, takes notice of what others wish, and lets go of what nobody has needed for long. */
  async tidy(): Promise<void> {
    await this.#quietly(async () => {
      const { store, instance, idleLimit } = this.#parts;
      const used = this.#all().filter(({ usedSince, isKept }) => usedSince && isKept);
      for (const place of used) place.usedSince = false;
      await store.write(
        noteCheck({ instance, now: Date.now() }),
        ...used.map(({ id, usedAt }) => noteUse({ id, at: usedAt })),
      );
      const rows = await workersOfInstance(store, instance);
      const statuses = new Map(rows.map(({ id, status }) => [id, status]));
      const idleSince = Date.now() - idleLimit * 1000;
      for (const place of this.#all()) {
        const status = statuses.get(place.id);
        if (status === 'SHUTTING_DOWN') place.going = true;
        if (place.taken) continue;
        if (place.going) await this.#remove(place);
        // One that another process has removed; it was kept before the rows were read.
        else if (status === undefined && place.isKept && place.usedAt < idleSince)
          this.#forget(place);
        else if (place.usedAt < idleSince) await this.#letGo(place);
      }
    });
  }

  async #letGo(place: Place): Promise<void> {
    const { id, reactorId } = place;
    // Nobody takes it while the store decides whether it is one too many.
    place.taken = true;
    const [removed] = await this.#parts.store.write(removeSurplus({ id, reactorId }));
    if (removed.affected > 0) this.#forget(place);
    else place.taken = false;
  }

  async #remove(place: Place): Promise<void> {
    this.#forget(place);
    await this.#quietly(() => this.#parts.store.write(removeWorker({ id: place.id })));
  }

  #find(reactorId: string, workerId: string): Place | undefined {
    return this.#places.get(reactorId)?.find(({ id }) => id === workerId);
  }

  #all(): Place[] {
    return [...this.#places.values()].flat();
  }

  #add(reactorId: string, id: string, isKept: boolean): Place {
    const place: Place = {
      id,
      reactorId,
      isKept,
      taken: false,
      run: undefined,
      going: false,
      usedAt: Date.now(),
      usedSince: false,
    };
    const places = this.#places.get(reactorId);
    if (places === undefined) this.#places.set(reactorId, [place]);
    else places.push(place);
    return place;
  }

  #forget(place: Place): void {
    const left = this.#places.get(place.reactorId)?.filter((other) => other !== place) ?? [];
    if (left.length > 0) this.#places.set(place.reactorId, left);
    else this.#places.delete(place.reactorId);
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'looking after workers failed');
    }
  }
}
