import { fail } from '../errors.ts';
import { type Execution, isOver } from './execution.ts';
import type { Executions } from './executions.ts';
import type { KeptResult, Results } from './results.ts';

interface Parts {
  readonly executions: Pick<Executions, 'byId' | 'onSettled'>;
  readonly results: Pick<Results, 'has' | 'take' | 'onGiven'>;
  /** How many may wait at once. */
  readonly most: number;
}

/** What an execution has to say to whoever waits for it: its first result, or that it is over without one. */
export interface Answer {
  readonly execution: Execution;
  readonly result: KeptResult | undefined;
}

/** A place among those who wait. */
export interface WaitingPlace {
  /** Undefined: the time has passed, the client has left, or the service stops. The execution goes on. */
  answer(executionId: string, seconds: number, left: AbortSignal): Promise<Answer | undefined>;
  leave(): void;
}

/** What this process runs is told to it. What another one runs is looked for, less and less often. */
const firstLookMs = 100;
const longestLookMs = 1_000;

/** Those who wait for the answer to their message. Nothing is gathered for them: each looks for itself when told to. */
export class AnswerWaiting {
  readonly #parts: Parts;
  readonly #wakers = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  #places = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const wake = (executionId: string) => {
      for (const waker of this.#wakers.get(executionId) ?? []) waker();
    };
    parts.executions.onSettled(wake);
    parts.results.onGiven(wake);
  }

  /** To be asked for before the message is accepted: whoever cannot wait can send it again without. */
  enter(): WaitingPlace {
    if (this.#places >= this.#parts.most)
      throw fail('too_many_requests', {
        problem: `${this.#parts.most} others wait for the answers to their messages already; nothing was accepted.`,
        seconds: 5,
      }).withHeaders({ 'retry-after': '5' });
    this.#places += 1;
    let isTaken = true;
    return {
      answer: (executionId, seconds, left) => this.#answer(executionId, seconds, left),
      leave: () => {
        if (isTaken) this.#places -= 1;
        isTaken = false;
      },
    };
  }

  /** Everybody gets the reply of a message that nobody waited for. */
  stop(): void {
    this.#stopping.abort();
  }

  async #answer(
    executionId: string,
    seconds: number,
    left: AbortSignal,
  ): Promise<Answer | undefined> {
    const time = AbortSignal.timeout(seconds * 1000);
    const over = AbortSignal.any([left, time, this.#stopping.signal]);
    const bell = new Bell(over);
    const wakers = this.#wakers.get(executionId) ?? new Set();
    const ring = () => bell.ring();
    this.#wakers.set(executionId, wakers.add(ring));
    try {
      for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 2, longestLookMs)) {
        const answer = await this.#look(executionId, left);
        if (answer !== undefined || over.aborted) return answer;
        await bell.wait(lookMs);
      }
    } finally {
      bell.forget();
      wakers.delete(ring);
      if (wakers.size === 0) this.#wakers.delete(executionId);
    }
  }

  async #look(executionId: string, left: AbortSignal): Promise<Answer | undefined> {
    const { executions, results } = this.#parts;
    // The status before the results: everything is among them before an execution is over.
    const execution = await executions.byId(executionId);
    if (execution === undefined) return undefined;
    const hasResult = await results.has(executionId);
    // A client that has left must not take a result with it.
    if (left.aborted) return undefined;
    const result = hasResult ? await results.take(executionId) : undefined;
    return result === undefined && !isOver(execution) ? undefined : { execution, result };
  }
}

/** Rung when there may be something new; also while nobody waits. */
class Bell {
  readonly #over: AbortSignal;
  readonly #ring = () => this.ring();
  #rung = false;
  #waiting: (() => void) | undefined;

  constructor(over: AbortSignal) {
    this.#over = over;
    over.addEventListener('abort', this.#ring, { once: true });
  }

  ring(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  /** Resolves when it is or was rung, or after the time. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.#rung && !this.#over.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#waiting = undefined;
    }
    this.#rung = false;
  }

  forget(): void {
    this.#over.removeEventListener('abort', this.#ring);
  }
}
