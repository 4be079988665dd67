import type { Delivered } from '../configs/delivered.ts';
import type { Execution } from './execution.ts';

/** What holds for one run, as the reactor said when it began. */
export interface RunRules {
  readonly timeoutSeconds: number;
  readonly memoryBytes: number;
  readonly logSeconds: number;
  /** What its container gets of the reactor's configs, and what of them must not be seen in the log. */
  readonly delivered: Delivered;
  /** The execution's own token; undefined where the reactor wants none. */
  readonly token: string | undefined;
}

/** The service stops, or the execution is wanted no more: whoever waits on its behalf gives up. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

/** An execution that this process looks after, from the claim until it is settled. */
export class Active {
  readonly execution: Execution;
  readonly rules: RunRules;
  /** Set once there is a container. */
  containerId: string | undefined;
  /** Its record says how it ended; only its container may still be there. */
  isOver = false;
  readonly #beginning = new AbortController();
  readonly #letGo = new AbortController();
  readonly #settled = Promise.withResolvers<void>();
  #stopWords: string | undefined;
  #stopper: (() => void) | undefined;

  constructor(execution: Execution, rules: RunRules) {
    this.execution = execution;
    this.rules = rules;
    this.#stopWords = execution.haltReason ?? undefined;
    this.#settled.promise.catch(() => undefined);
  }

  /** Aborted when it is not to begin any more. */
  get beginning(): AbortSignal {
    return this.#beginning.signal;
  }

  /** Aborted when the service stops and leaves the container to the next one. */
  get letGo(): AbortSignal {
    return this.#letGo.signal;
  }

  /** Why it was asked to stop; the first reason counts. */
  get stopWords(): string | undefined {
    return this.#stopWords;
  }

  get detached(): boolean {
    return this.#letGo.signal.aborted;
  }

  /** Resolves when the record says how it ended, or when the service has let go of it. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Asks it to stop: at once where a container runs, or by not beginning. */
  stop(words: string): void {
    this.#stopWords ??= words;
    if (this.#stopper !== undefined) this.#stopper();
    else this.#beginning.abort(new GivenUp(words));
  }

  /** Says how the running container is stopped. A wish that came earlier is fulfilled now. */
  onStop(stopper: () => void): void {
    this.#stopper = stopper;
    if (this.#stopWords !== undefined) stopper();
  }

  detach(): void {
    const reason = new GivenUp('the service stops');
    this.#letGo.abort(reason);
    this.#beginning.abort(reason);
  }

  tellSettled(): void {
    this.#settled.resolve();
  }
}
