import { fail } from '../errors.ts';
import { expectRows, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import type { Execution } from './execution.ts';
import { findBoxesOf, findOldBoxes, removeResults } from './result-expiry.ts';
import {
  countedSize,
  findBox,
  findResult,
  hasResult,
  type KeptResult,
  newestWithResult,
  oneMore,
  readUpTo,
  takeOldest,
} from './result-rows.ts';

export type { KeptResult } from './result-rows.ts';

type Listener = (executionId: string) => void;

/** A datagram, and the place behind it among those of its run. */
export interface ReadDatagram {
  readonly bytes: Uint8Array;
  readonly next: number;
}

/** Where the datagrams of a run have been read to, and how much of the limit is taken. */
export interface SpoolState {
  readonly place: number;
  readonly bytes: number;
}

/**
 * What executions give back: bytes, several if they like, each handed out once and in order. They are in the database of
 * the logs, so that large ones never hold up a message.
 */
export class Results {
  readonly #store: Store;
  readonly #limit: number;
  readonly #listeners: Listener[] = [];

  /** `limit`: how much one execution can give, all together. */
  constructor(store: Store, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /** There is one more, of an execution that this process has to do with. */
  onGiven(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Keeps one. Resolves with its number when it is durable. */
  async give(execution: Execution, body: Uint8Array): Promise<number> {
    // The first of all is not compared with anything in the store.
    if (countedSize(body.byteLength) > this.#limit) throw this.#noRoom();
    const [grow, insert] = oneMore(execution, body, this.#limit);
    try {
      const [grown] = await this.#store.write(expectRows(grow, 1), insert);
      this.#tell(execution.id);
      return grown.rows[0]?.given ?? 0;
    } catch (error) {
      // Without a new number, the result has that of the one before.
      if (error instanceof UnexpectedRows || error instanceof UniqueViolation) throw this.#noRoom();
      throw error;
    }
  }

  async spoolState({ id, workerId }: Execution): Promise<SpoolState> {
    const box = await findBox(this.#store, id);
    if (box === undefined) return { place: 0, bytes: 0 };
    return { place: box.spoolWorker === workerId ? box.spoolPlace : 0, bytes: box.bytes };
  }

  /**
   * Keeps datagrams and how far they were read, all or nothing: a service that was killed goes on behind the last.
   * Those for which there is no room are left out. Resolves with what holds then.
   */
  async keep(
    execution: Execution,
    datagrams: readonly ReadDatagram[],
    from: SpoolState,
  ): Promise<SpoolState & { readonly dropped: number }> {
    const unit: Statement[] = [];
    let { place, bytes } = from;
    let dropped = 0;
    for (const datagram of datagrams) {
      place = datagram.next;
      const counted = countedSize(datagram.bytes.byteLength);
      if (bytes + counted > this.#limit) {
        dropped += 1;
        continue;
      }
      bytes += counted;
      // What was posted meanwhile may have taken the room: that is over the limit by little, and once.
      unit.push(...oneMore(execution, datagram.bytes, Number.MAX_SAFE_INTEGER));
    }
    if (unit.length > 0 || dropped > 0)
      await this.#store.write(...unit, readUpTo(execution, place));
    if (unit.length > 0) this.#tell(execution.id);
    return { place, bytes, dropped };
  }

  /** Hands out the oldest, to nobody else. */
  async take(executionId: string): Promise<KeptResult | undefined> {
    for (;;) {
      if (!(await hasResult(this.#store, executionId))) return undefined;
      const [taken] = await this.#store.write(takeOldest({ executionId }));
      // None: somebody else has taken it in this moment; there may be another.
      if (taken.rows[0] !== undefined) return taken.rows[0];
    }
  }

  /** The oldest behind a number, and leaves it there. */
  peek(executionId: string, after: number): Promise<KeptResult | undefined> {
    return findResult(this.#store, executionId, after);
  }

  has(executionId: string): Promise<boolean> {
    return hasResult(this.#store, executionId);
  }

  newestOf(reactorId: string): Promise<string | undefined> {
    return newestWithResult(this.#store, reactorId);
  }

  /** Executions that gave their last result before this time (ms). */
  old(before: number, limit: number): Promise<readonly string[]> {
    return findOldBoxes(this.#store, before, limit);
  }

  ofReactor(reactorId: string, limit: number): Promise<readonly string[]> {
    return findBoxesOf(this.#store, reactorId, limit);
  }

  drop(executionId: string): Promise<void> {
    return removeResults(this.#store, executionId);
  }

  #tell(executionId: string): void {
    for (const listener of this.#listeners) listener(executionId);
  }

  #noRoom() {
    return fail('results_full', { limit: this.#limit });
  }
}
