import { setTimeout as pause } from 'node:timers/promises';
import { SettingError } from '../config-sources.ts';
import { EngineRefused, EngineUnavailable, type Image, PullFailed } from '../engines/engine.ts';
import { reactorEvent } from '../events/outbox.ts';
import type { Store } from '../store/store.ts';
import { type Obtained, type ObtainParts, obtainAgain, obtainImage } from './obtain-image.ts';
import { progressWords, Unhurried } from './progress-words.ts';
import { PullTurns } from './pull-turns.ts';
import type { Reactor } from './reactor.ts';
import { markError, markReady, reactorFrom, sayProgress, selectReactors } from './reactor-rows.ts';
import type { Reactors } from './reactors.ts';

export interface ImageKeeperParts extends ObtainParts {
  readonly store: Store;
  readonly reactors: Reactors;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  /** The keeper is at work on this reactor, or no longer. */
  readonly tending: { begin(id: string): void; end(id: string): void };
}

interface Submitted {
  readonly reactor: Reactor;
  readonly askRegistry: boolean;
}

const progressEveryMs = 1_000;
const firstRetryMs = 500;
const longestRetryMs = 10_000;

/** Fetches the images of reactors in the background: SUBMITTED becomes READY, or ERROR with the reason in words. */
export class ImageKeeper {
  readonly #parts: ImageKeeperParts;
  readonly #turns = new PullTurns();
  /** The newest job of each reactor, and all that have not ended yet. */
  readonly #newest = new Map<string, AbortController>();
  readonly #jobs = new Set<Promise<void>>();
  readonly #again = new Map<string, Promise<Image>>();
  #stopped = false;

  constructor(parts: ImageKeeperParts) {
    this.#parts = parts;
    parts.reactors.onSubmitted((id) => this.fetch(id));
    parts.reactors.onRemoving(async ({ id }) => this.giveUp(id));
    parts.reactors.onRemoved((id) => this.giveUp(id));
  }

  /** Begins, or begins anew: what an older PUT has asked for does not matter any more. */
  fetch(id: string): void {
    if (this.#stopped) return;
    this.giveUp(id);
    const stop = new AbortController();
    this.#newest.set(id, stop);
    this.#parts.tending.begin(id);
    const job = this.#work(id, stop.signal).finally(() => {
      this.#jobs.delete(job);
      this.#parts.tending.end(id);
      if (this.#newest.get(id) === stop) this.#newest.delete(id);
    });
    this.#jobs.add(job);
  }

  giveUp(id: string): void {
    this.#newest.get(id)?.abort();
  }

  /** Pulls that are under way end; they are begun again at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const stop of this.#newest.values()) stop.abort();
    await Promise.all(this.#jobs);
  }

  /**
   * The image of a READY reactor as the engine has it; fetched again if somebody has removed it meanwhile, and then
   * the reactor is READY with it, or in ERROR. Rejects with PullFailed or EngineUnavailable.
   */
  ensureImage(reactor: Reactor): Promise<Image> {
    const key = `${reactor.id} ${reactor.revision}`;
    let running = this.#again.get(key);
    if (running === undefined) {
      running = this.#ensure(reactor).finally(() => this.#again.delete(key));
      this.#again.set(key, running);
    }
    return running;
  }

  async #ensure(reactor: Reactor): Promise<Image> {
    const { engine } = this.#parts;
    if (reactor.imageId !== null) {
      const image = await engine.findImage(reactor.imageId);
      if (image !== undefined) return { id: image.id, digest: reactor.imageDigest ?? undefined };
    }
    try {
      const obtained = await obtainAgain(this.#parts, reactor);
      await this.#becomeReady(reactor, obtained);
      return obtained.image;
    } catch (error) {
      if (error instanceof PullFailed) await this.#becomeFailed(reactor, error.message);
      throw error;
    }
  }

  async #work(id: string, signal: AbortSignal): Promise<void> {
    let waitMs = firstRetryMs;
    while (!signal.aborted) {
      try {
        const submitted = await this.#read(id);
        if (submitted === undefined) return;
        return await this.#fetchFor(submitted, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof EngineUnavailable))
          this.#parts.log.warn(
            { err: error, reactor: id },
            'fetching an image failed; trying again',
          );
      }
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => {});
      waitMs = Math.min(waitMs * 2, longestRetryMs);
    }
  }

  /** Rejects with what may pass: the engine or the store is away. */
  async #fetchFor(submitted: Submitted, signal: AbortSignal): Promise<void> {
    const { reactor, askRegistry } = submitted;
    const say = (text: string): Promise<void> => this.#say(reactor, text);
    const progress = new Unhurried(progressEveryMs, (text) => void say(text).catch(() => {}));
    try {
      const obtained = await this.#turns.take(reactor.ownerId, signal, () =>
        obtainImage(this.#parts, {
          reactor,
          reference: reactor.image,
          askRegistry,
          signal,
          onProgress: (sum) => progress.tell(progressWords(sum)),
        }),
      );
      progress.end();
      await this.#becomeReady(reactor, obtained);
    } catch (error) {
      progress.end();
      if (signal.aborted) throw error;
      const lasting = lastingReason(error);
      if (lasting !== undefined) return await this.#becomeFailed(reactor, lasting);
      if (error instanceof EngineUnavailable)
        await say(`waiting for the container engine: ${error.message}`);
      throw error;
    }
  }

  async #becomeReady(reactor: Reactor, { image, remark }: Obtained): Promise<void> {
    const { id, revision } = reactor;
    const ready = { imageId: image.id, digest: image.digest ?? null, message: remark };
    await this.#parts.reactors.commit(
      id,
      ...reactorEvent({
        id,
        revision,
        type: 'ACTOR_READY',
        status: 'READY',
        statusMessage: remark,
      }),
      markReady({ id, revision, ...ready }),
    );
    this.#parts.log.info({ reactor: id, revision, image: image.id, remark }, 'reactor ready');
  }

  async #becomeFailed(reactor: Reactor, message: string): Promise<void> {
    const { id, revision } = reactor;
    await this.#parts.reactors.commit(
      id,
      ...reactorEvent({
        id,
        revision,
        type: 'ACTOR_ERROR',
        status: 'ERROR',
        statusMessage: message,
      }),
      markError({ id, revision, message }),
    );
    this.#parts.log.info({ reactor: id, revision, reason: message }, 'reactor in error');
  }

  /** Without a change for everyone: nobody remembers how far a pull is. */
  async #say({ id, revision }: Reactor, message: string): Promise<void> {
    await this.#parts.store.write(sayProgress({ id, revision, message }));
  }

  async #read(id: string): Promise<Submitted | undefined> {
    const row = await selectReactors(this.#parts.store.read)
      .select('reactors.pull_asked')
      .where('reactors.id', '=', id)
      .where('reactors.status', '=', 'SUBMITTED')
      .executeTakeFirst();
    return row && { reactor: reactorFrom(row), askRegistry: row.pull_asked === 1 };
  }
}

/** What trying again would not mend. */
function lastingReason(error: unknown): string | undefined {
  if (error instanceof PullFailed || error instanceof EngineRefused) return error.message;
  // The operator's file: its sentence names a path of the machine, which is not for everyone.
  if (error instanceof SettingError)
    return "The operator's file of registry credentials cannot be read; tell the operator.";
  return undefined;
}
