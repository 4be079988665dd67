import { claimedBy } from './claim.ts';
import { containerNames, labelsOfInstance } from './container-labels.ts';
import { type RecoverParts, removeStrangers } from './recover.ts';

const everyMs = 60_000;

/** Removes what was left behind: containers whose removal failed, and what the engine's driver itself has made. */
export class Reaper {
  readonly #parts: RecoverParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RecoverParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => void this.round(), everyMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async round(): Promise<void> {
    const { store, engine, instance, log } = this.#parts;
    try {
      // The containers before the claims: what is claimed in between has no container in the list.
      const containers = await engine.list(labelsOfInstance(instance));
      const claimed = await claimedBy(store, instance);
      await removeStrangers(this.#parts, containers, new Set(claimed.flatMap(containerNames)));
      await engine.tidy();
    } catch (error) {
      log.warn({ err: error }, 'looking for what was left behind failed');
    }
  }
}
