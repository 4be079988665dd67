import type { Engine, SentDatagrams } from '../engines/engine.ts';
import type { Execution } from './execution.ts';
import type { ReadDatagram, Results, SpoolState } from './results.ts';

export interface CollectingParts {
  readonly engine: Engine;
  readonly results: Pick<Results, 'spoolState' | 'keep'>;
  readonly log: {
    error(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

const bytesAtOnce = 1024 * 1024;

/**
 * Carries what a container sends into the store: while it runs, so that whoever waits has it soon, and once more after
 * its end, so that everything is there before the execution is over.
 */
export class Collecting {
  readonly #parts: CollectingParts;
  readonly #execution: Execution;
  readonly #sent: Promise<SentDatagrams | undefined>;
  /** One step at a time. */
  #work: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #state: SpoolState | undefined;
  #complained = false;
  #unwatch: (() => void) | undefined;
  #isOver = false;

  constructor(parts: CollectingParts, execution: Execution, containerId: string) {
    this.#parts = parts;
    this.#execution = execution;
    this.#sent = parts.engine.sent(containerId).catch(() => undefined);
    void this.#watch();
  }

  /** To be called after the container's end. Resolves when everything that it sent is durable. */
  async finish(): Promise<void> {
    const sent = await this.#sent;
    this.stop();
    if (sent === undefined) return;
    try {
      await sent.complete();
    } catch (error) {
      this.#warn(error, 'some of the results that it sent last may be missing');
    }
    await this.#work;
    await this.#collect(sent);
  }

  /** Looks no further; what is under way is finished. */
  stop(): void {
    this.#isOver = true;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  async #watch(): Promise<void> {
    const sent = await this.#sent;
    if (sent === undefined || this.#isOver) return;
    this.#unwatch = sent.onMore(() => this.#collectSoon(sent));
    // What was there before.
    this.#collectSoon(sent);
  }

  /** Much that arrives together is one step. */
  #collectSoon(sent: SentDatagrams): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#work = this.#work.then(async () => {
      this.#isWaiting = false;
      if (this.#isOver) return;
      try {
        await this.#collect(sent);
      } catch (error) {
        // At the end it is tried again.
        this.#warn(error, 'results cannot be stored yet');
      }
    });
  }

  async #collect(sent: SentDatagrams): Promise<void> {
    let batch: ReadDatagram[] = [];
    let bytes = 0;
    for await (const datagram of sent.read(this.#state?.place ?? 0)) {
      // Most executions send nothing, and the store is not asked for them.
      this.#state ??= await this.#parts.results.spoolState(this.#execution);
      if (datagram.next <= this.#state.place) continue;
      batch.push(datagram);
      bytes += datagram.bytes.byteLength;
      if (bytes < bytesAtOnce && batch.length < 256) continue;
      await this.#keep(batch, this.#state);
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0 && this.#state !== undefined) await this.#keep(batch, this.#state);
  }

  async #keep(batch: readonly ReadDatagram[], from: SpoolState): Promise<void> {
    const { place, bytes, dropped } = await this.#parts.results.keep(this.#execution, batch, from);
    this.#state = { place, bytes };
    if (dropped > 0) this.#warn(undefined, 'results over the limit are dropped');
  }

  #warn(error: unknown, message: string): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#parts.log.warn({ err: error, execution: this.#execution.id }, message);
  }
}
