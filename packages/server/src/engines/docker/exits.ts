import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ContainerGone, EngineUnavailable } from '../engine.ts';
import { readText } from './docker-api.ts';
import type { DockerClient } from './docker-client.ts';
import { isRefusal, onContainer } from './failures.ts';
import { Inspection, read, type State } from './shapes.ts';

/** For an end that the engine did not tell: of a container that somebody removed before it started, for one. */
const checkEveryMs = 15_000;

export interface Watch {
  readonly state: Promise<State>;
  readonly stop: AbortController;
  /** How often the engine broke off meanwhile: output may be missing after that. */
  breaks: number;
}

/** Waits for the ends of containers: one question to the engine per container, however many ask. */
export class Exits {
  readonly #client: DockerClient;
  readonly #watches = new Map<string, Watch>();

  constructor(client: DockerClient) {
    this.#client = client;
  }

  /** May be asked before the start: the engine is asked for the next exit, so that none is missed. */
  watch(id: string): Watch {
    const running = this.#watches.get(id);
    if (running !== undefined) return running;
    const stop = new AbortController();
    const watch: Watch = {
      state: Promise.resolve().then(() => this.#wait(id, watch)),
      stop,
      breaks: 0,
    };
    this.#watches.set(id, watch);
    // Who is interested hears of it through `state`.
    watch.state.catch(() => {});
    watch.state.then(
      () => this.#forget(id, watch),
      () => this.#forget(id, watch),
    );
    return watch;
  }

  /** The container was removed: whoever waits is told. */
  gone(id: string): void {
    this.#watches.get(id)?.stop.abort();
  }

  close(): void {
    for (const { stop } of this.#watches.values()) stop.abort();
  }

  #forget(id: string, watch: Watch): void {
    if (this.#watches.get(id) === watch) this.#watches.delete(id);
  }

  async #wait(id: string, watch: Watch): Promise<State> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#waitOnce(id, watch.stop.signal);
      } catch (error) {
        if (watch.stop.signal.aborted) throw new ContainerGone(id);
        if (!(error instanceof EngineUnavailable)) throw error;
        watch.breaks += 1;
        await pause(Math.min(100 * 2 ** attempt, 2_000));
      }
    }
  }

  async #waitOnce(id: string, signal: AbortSignal): Promise<State> {
    const over = new AbortController();
    const opened = this.#client.open('POST', `/containers/${id}/wait`, {
      query: { condition: 'next-exit' },
      signal: AbortSignal.any([signal, over.signal]),
    });
    const told = opened.then((response) => this.#readEnd(response));
    told.catch(() => {});
    try {
      // Docker answers at once with the head: from then on no exit is missed. Podman answers when it is over.
      await Promise.race([opened, pause(1_000, undefined, { signal: over.signal, ref: false })]);
      for (;;) {
        const state = await this.#inspect(id, signal);
        if (hasEnded(state)) return state;
        await Promise.race([
          told,
          pause(checkEveryMs, undefined, { signal: over.signal, ref: false }),
        ]);
      }
    } catch (error) {
      if (isRefusal(error, 404)) throw new ContainerGone(id);
      throw error;
    } finally {
      over.abort();
    }
  }

  async #readEnd(response: IncomingMessage): Promise<void> {
    try {
      JSON.parse(await readText(response));
    } catch (error) {
      throw this.#client.lost(error, await this.#client.address().catch(() => undefined));
    }
  }

  async #inspect(id: string, signal: AbortSignal): Promise<State> {
    return onContainer(id, 'tell of a container', async () => {
      const answer = await this.#client.call('GET', `/containers/${id}/json`, { signal });
      return read(Inspection, answer, 'a container').State;
    });
  }
}

/** Not "removing": its output and exit are of no more use to anybody. */
const hasEnded = ({ Status }: State): boolean =>
  Status === 'exited' || Status === 'dead' || Status === 'stopped';
