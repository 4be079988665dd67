import type { Execution } from './execution.ts';

interface Log {
  warn(facts: object, message: string): void;
}

export interface ScheduleParts {
  /** How many executions run at once. */
  readonly places: number;
  /** Takes the oldest message of the reactor, if it has room for it. */
  readonly claim: (reactorId: string) => Promise<Execution | undefined>;
  /** Resolves when the execution's place is free again. */
  readonly run: (execution: Execution) => Promise<void>;
  /** The reactors that may have something to run. */
  readonly withWork: () => Promise<readonly string[]>;
  readonly log: Log;
}

/** For what other processes have accepted, and for whatever was overlooked. */
const lookMs = 5_000;
const workerLookMs = 1_000;
const afterFailureMs = 1_000;

/**
 * Decides who is next. The reactors that may have something to run stand in a ring; each turn takes one message of the
 * reactor that has waited longest, so that one with 100,000 messages delays another's first by one turn.
 * A reactor leaves the ring when it has nothing to run, and comes back when it is told to look again: a message was
 * accepted, one of its executions started or ended, its image is ready.
 */
export class Schedule {
  readonly #parts: ScheduleParts;
  /** In order: a Set keeps it, and finds one in no time. */
  readonly #ring = new Set<string>();
  readonly #claiming = new Set<string>();
  /** Those that were woken while a claim for them was under way, whose answer may be older than the news. */
  readonly #again = new Set<string>();
  #free: number;
  #open = false;
  #timer: NodeJS.Timeout | undefined;
  #pumping = false;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
    this.#free = parts.places;
  }

  /** `hearsNothing`: all that it runs is accepted by other processes, so it looks more often. */
  start({ hearsNothing }: { readonly hearsNothing: boolean }): void {
    this.#open = true;
    this.#timer = setInterval(() => void this.look(), hearsNothing ? workerLookMs : lookMs);
    this.#timer.unref();
    void this.look();
  }

  /** Claims nothing more. What runs goes on. */
  stop(): void {
    this.#open = false;
    clearInterval(this.#timer);
  }

  /** The reactor may have something to run. */
  wake(reactorId: string): void {
    if (this.#claiming.has(reactorId)) this.#again.add(reactorId);
    else this.#ring.add(reactorId);
    this.#pump();
  }

  /** Something runs that was not claimed here: it takes a place until it resolves. */
  occupy(running: Promise<void>): void {
    this.#free -= 1;
    void running.finally(() => this.#release());
  }

  /** Asks the store which reactors have something to run. */
  async look(): Promise<void> {
    try {
      for (const id of await this.#parts.withWork()) this.wake(id);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'looking for messages that wait failed');
    }
  }

  #release(): void {
    this.#free += 1;
    this.#pump();
  }

  /** In the next turn of the event loop: those that are woken together claim together, and share a commit. */
  #pump(): void {
    if (this.#pumping || !this.#open || this.#free <= 0 || this.#ring.size === 0) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      for (const id of this.#ring) {
        if (!this.#open || this.#free <= 0) return;
        this.#ring.delete(id);
        this.#free -= 1;
        void this.#serve(id);
      }
    });
  }

  async #serve(reactorId: string): Promise<void> {
    this.#claiming.add(reactorId);
    const claimed = await this.#claim(reactorId);
    this.#claiming.delete(reactorId);
    if (this.#again.delete(reactorId)) this.#ring.add(reactorId);
    if (claimed !== undefined) {
      this.#pump();
      await this.#parts.run(claimed);
    }
    this.#release();
  }

  async #claim(reactorId: string): Promise<Execution | undefined> {
    try {
      return await this.#parts.claim(reactorId);
    } catch (error) {
      this.#parts.log.warn({ err: error, reactor: reactorId }, 'claiming a message failed');
      setTimeout(() => this.wake(reactorId), afterFailureMs).unref();
      return undefined;
    }
  }
}
