import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '../engines/engine.ts';

const firstPauseMs = 100;
const longestPauseMs = 3_000;

interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** Waits for an engine that has gone away. Everybody who waits shares one question. */
export class EngineReturn {
  readonly #engine: Pick<Engine, 'ping'>;
  readonly #log: Log;
  readonly #stopped = new AbortController();
  #asking: Promise<void> | undefined;

  constructor(engine: Pick<Engine, 'ping'>, log: Log) {
    this.#engine = engine;
    this.#log = log;
  }

  /** Resolves when the engine answers; rejects when the service stops or `signal` says that nobody waits any more. */
  async wait(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    if (signal === undefined) return this.#asking;
    const { promise, reject } = Promise.withResolvers<never>();
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await Promise.race([this.#asking, promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #ask(): Promise<void> {
    const { signal } = this.#stopped;
    let away = false;
    for (let wait = firstPauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
      // Also before the first question: who is here has just been refused.
      await pause(wait, undefined, { signal, ref: false });
      try {
        const engine = await this.#engine.ping();
        if (away) this.#log.info({ engine }, 'the container engine is back');
        return;
      } catch (error) {
        if (!away) this.#log.warn({ err: error }, 'the container engine is away; executions wait');
        away = true;
      }
    }
  }
}
