import { freemem } from 'node:os';
import type { Config } from '../config.ts';
import type { Engine } from '../engines/engine.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import type { Execution } from './execution.ts';
import {
  type CollectedSpare,
  type KeptSpare,
  type MakingParts,
  makeSpare,
  planOf,
} from './kept-spare.ts';
import { SpareNeeds } from './spare-needs.ts';

interface Parts extends MakingParts {
  readonly store: Store;
  readonly engine: Pick<Engine, 'spare' | 'remove'>;
  readonly reactors: Pick<Reactors, 'byId'>;
  readonly config: MakingParts['config'] &
    Pick<Config, 'spare_containers' | 'spare_idle_limit' | 'containers_at_once'>;
  /** How many executions are under way on this machine. */
  readonly underWay: () => number;
}

/** How often it is looked whether those that wait are still wanted. */
const longestPauseMs = 2_000;
/** How long a reactor is left alone of which no spare can be made, and one whose spare has just failed. */
const unfitMs = 60_000;
const failedMs = 1_000;
/** Only one whose reactor was not used for this long gives way to another's. */
const restMs = 10_000;
/** With less memory left on the machine there are no spares. */
const leastMemory = 256 * 1024 * 1024;

/**
 * Containers that have been started and wait for a message, each for one alone. They are made one at a time, never
 * while an execution waits for a container of its own, and go when something that runs needs their room.
 */
export class Spares {
  readonly #parts: Parts;
  readonly #needs: SpareNeeds;
  /** Those that wait, or are being made. */
  readonly #waiting = new Set<KeptSpare>();
  /** By name: those that belong to an execution, until its container is gone. */
  readonly #taken = new Map<string, KeptSpare>();
  readonly #collected = new Set<string>();
  readonly #removing = new Map<string, Promise<void>>();
  /** By reactor: until when not to try again. */
  readonly #unfit = new Map<string, number>();
  #colds = 0;
  #work: Promise<void> | undefined;
  #isNews = false;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#needs = new SpareNeeds(parts.config.spare_idle_limit);
  }

  start(): void {
    const { spare_containers, spare_idle_limit } = this.#parts.config;
    if (spare_containers === 0) return;
    this.#isOpen = true;
    const everyMs = Math.min(longestPauseMs, spare_idle_limit * 500);
    this.#timer = setInterval(() => void this.look(), everyMs).unref();
    void this.look();
  }

  /** Removes those that nobody has used. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    clearInterval(this.#timer);
    await this.#work;
    for (const kept of this.#waiting) this.#discard(kept);
    await Promise.all(this.#removing.values());
  }

  /** One for a claim to try its luck with, perhaps still being made. */
  take(reactor: Reactor): KeptSpare | undefined {
    if (this.#waiting.size === 0) return undefined;
    const plan = this.#planOf(reactor);
    let found: KeptSpare | undefined;
    for (const kept of this.#waiting) {
      if (kept.isTried || kept.reactorId !== reactor.id || kept.plan !== plan) continue;
      if (kept.spare?.isUsable() === true) {
        found = kept;
        break;
      }
      if (kept.spare === undefined) found ??= kept;
    }
    if (found !== undefined) found.isTried = true;
    return found;
  }

  /** What came of the claim. `isSure`: nothing was claimed; otherwise nobody knows, and it is used for nothing else. */
  claimed(kept: KeptSpare, execution: Execution | undefined, isSure: boolean): void {
    kept.isTried = false;
    if (execution !== undefined) {
      this.#waiting.delete(kept);
      this.#taken.set(kept.name, kept);
    } else if (!isSure || !this.#isOpen) this.#discard(kept);
  }

  /** The container that the execution's claim took, ready; whoever collects it removes it. */
  async collect(execution: Execution, reactor: Reactor): Promise<CollectedSpare | undefined> {
    const kept = this.#taken.get(execution.spare ?? '');
    if (kept === undefined || this.#collected.has(kept.name)) return undefined;
    const spare = await kept.made;
    if (spare !== undefined && kept.plan === this.#planOf(reactor)) {
      this.#collected.add(kept.name);
      return { spare, isGranted: kept.isGranted };
    }
    // The reactor has changed since the claim.
    this.#taken.delete(kept.name);
    this.#discard(kept);
    return undefined;
  }

  /** The execution is over, or given back. */
  done(execution: Execution): void {
    const kept = this.#taken.get(execution.spare ?? '');
    if (kept === undefined) return;
    this.#taken.delete(kept.name);
    if (!this.#collected.delete(kept.name)) this.#discard(kept);
  }

  /** An execution of the reactor has begun: now there is time to make the next spare. */
  used(reactorId: string): void {
    if (!this.#isOpen) return;
    this.#needs.noteUse(reactorId);
    this.#tend();
  }

  /** While an execution waits for a container of its own, no spare is begun. */
  async whileCold<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#colds += 1;
    try {
      return await work();
    } finally {
      this.#colds -= 1;
      if (this.#colds === 0) this.#tend();
    }
  }

  /** Whether this process knows the container of this name, and looks after it. */
  has(name: string): boolean {
    if (this.#taken.has(name) || this.#removing.has(name)) return true;
    for (const kept of this.#waiting) if (kept.name === name) return true;
    return false;
  }

  /** The containers that wait for messages of this reactor. */
  containersOf(reactorId: string): readonly string[] {
    return [...this.#waiting].flatMap((kept) =>
      kept.reactorId === reactorId && kept.spare?.isUsable() === true ? [kept.spare.id] : [],
    );
  }

  /** The reactor goes, and what waits for it. */
  async dropOf(reactorId: string): Promise<void> {
    this.#needs.forget(reactorId);
    const own = [...this.#waiting].filter((kept) => kept.reactorId === reactorId);
    for (const kept of own) this.#discard(kept);
    await Promise.all(own.map(({ name }) => this.#removing.get(name)));
  }

  /** Asks which reactors keep some, and lets go of those that are not wanted any more. */
  async look(): Promise<void> {
    if (!this.#isOpen) return;
    try {
      await this.#needs.load(this.#parts.store);
      await this.#letGo();
      this.#tend();
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'looking after spare containers failed');
    }
  }

  async #letGo(): Promise<void> {
    const { reactors } = this.#parts;
    const seen = new Map<string, number>();
    for (const kept of this.#waiting) {
      const reactor = await reactors.byId(kept.reactorId);
      if (kept.isTried || !this.#waiting.has(kept)) continue;
      const before = seen.get(kept.reactorId) ?? 0;
      const isWanted =
        reactor?.status === 'READY' &&
        kept.plan === this.#planOf(reactor) &&
        kept.spare?.isUsable() !== false &&
        before < this.#needs.wanted(reactor);
      if (isWanted) seen.set(kept.reactorId, before + 1);
      else this.#discard(kept);
    }
    for (const [id, until] of this.#unfit) if (until < Date.now()) this.#unfit.delete(id);
  }

  /** Makes what is missing, one after the other. */
  #tend(): void {
    this.#isNews = true;
    if (!this.#isOpen) return;
    this.#work ??= this.#fill()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'looking after spare containers failed'),
      )
      .finally(() => {
        this.#work = undefined;
        // What came while the last round was ending.
        if (this.#isNews) this.#tend();
      });
  }

  async #fill(): Promise<void> {
    while (this.#isOpen && this.#isNews) {
      this.#isNews = false;
      this.#giveWay();
      const reactor = await this.#next();
      // Whatever happened meanwhile: somebody who begins a container of their own goes first, and calls again.
      if (reactor === undefined || this.#colds > 0 || !this.#isOpen) continue;
      if (!this.#makeRoom(reactor)) continue;
      this.#isNews = true;
      await this.#make(reactor);
    }
  }

  async #next(): Promise<Reactor | undefined> {
    if (this.#colds > 0) return undefined;
    for (const id of this.#needs.candidates()) {
      if ((this.#unfit.get(id) ?? 0) > Date.now()) continue;
      const reactor = await this.#parts.reactors.byId(id);
      if (reactor?.status !== 'READY' || reactor.imageId === null) continue;
      const plan = this.#planOf(reactor);
      const has = [...this.#waiting].filter((kept) => kept.reactorId === id && kept.plan === plan);
      if (has.length < this.#needs.wanted(reactor)) return reactor;
    }
    return undefined;
  }

  /** How many may wait now. */
  #most(): number {
    const { config, underWay } = this.#parts;
    if (freemem() < leastMemory) return 0;
    return Math.min(config.spare_containers, config.containers_at_once - underWay());
  }

  /** What runs needs the room. */
  #giveWay(): void {
    const most = this.#most();
    while (this.#waiting.size > most) {
      const oldest = this.#leastUsed();
      if (oldest === undefined) return;
      this.#discard(oldest);
    }
  }

  #makeRoom({ id }: Reactor): boolean {
    const most = this.#most();
    if (this.#waiting.size < most) return true;
    const oldest = this.#leastUsed();
    if (most <= 0 || oldest === undefined) return false;
    const rested = this.#needs.lastUse(id) - this.#needs.lastUse(oldest.reactorId);
    if (rested < restMs) return false;
    this.#discard(oldest);
    return true;
  }

  #leastUsed(): KeptSpare | undefined {
    let oldest: KeptSpare | undefined;
    for (const kept of this.#waiting) {
      if (kept.isTried) continue;
      const isOlder =
        oldest === undefined ||
        this.#needs.lastUse(kept.reactorId) < this.#needs.lastUse(oldest.reactorId);
      if (isOlder) oldest = kept;
    }
    return oldest;
  }

  async #make(reactor: Reactor): Promise<void> {
    const kept = makeSpare(this.#parts, reactor);
    this.#waiting.add(kept);
    if ((await kept.made) !== undefined) return;
    this.#waiting.delete(kept);
    this.#unfit.set(reactor.id, Date.now() + (kept.hasFailed ? failedMs : unfitMs));
  }

  #discard(kept: KeptSpare): void {
    this.#waiting.delete(kept);
    const removal = kept.made
      .then((spare) => spare && this.#parts.engine.remove(spare.id))
      // Should it not work, the reaper finds it.
      .catch(() => {})
      .then(() => {
        this.#removing.delete(kept.name);
      });
    this.#removing.set(kept.name, removal);
  }

  #planOf(reactor: Reactor): string {
    return planOf(reactor, this.#parts.config);
  }
}
