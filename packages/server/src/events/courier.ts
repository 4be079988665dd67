import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import { deliverToReactor, type LinkParts } from './deliver-to-reactor.ts';
import { deliverToWebhook, type WebhookParts } from './deliver-to-webhook.ts';
import {
  type Delivery,
  endDelivery,
  freeAll,
  queuesWithWork,
  removeOldEvents,
  type Taken,
  takeFirst,
  tryAgainLater,
} from './deliveries.ts';
import { Undelivered } from './undelivered.ts';

export type CourierParts = LinkParts &
  Omit<WebhookParts, 'stopping'> & {
    readonly store: Store;
    readonly config: Pick<Config, 'webhook_attempts' | 'webhook_pause' | 'event_retention'>;
    readonly log: { warn(facts: object, message: string): void };
  };

const lookMs = 300;
const sweepMs = 60_000;
const breathMs = 5;
const mostAtOnce = 32;
const mostQueues = 10_000;
const longestPauseMs = 3_600_000;
/** Nobody else takes a delivery on while an attempt may still be under way. */
const leaseMarginMs = 30_000;
const longestProblem = 500;

/**
 * Takes events where reactors want them. Each reactor's go one after the other, oldest first; one that has to be tried
 * again is overtaken by those behind it, so that a receiver that refuses one event hears of the others.
 */
export class Courier {
  readonly #parts: CourierParts;
  readonly #busy = new Map<string, Promise<void>>();
  #timers: NodeJS.Timeout[] = [];
  #looking: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(parts: CourierParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.#freeAll().then(() => this.look());
    this.#timers = [
      setInterval(() => void this.look(), lookMs),
      setInterval(() => void this.sweep(), sweepMs),
    ];
    for (const timer of this.#timers) timer.unref();
    void this.sweep();
  }

  /** Attempts under way are broken off, to be made again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#looking;
    await Promise.allSettled(this.#busy.values());
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Begins with every queue that has something to deliver, as far as there is room. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Removes events that are too old. */
  async sweep(): Promise<void> {
    const { store, config, log } = this.#parts;
    const before = Date.now() - config.event_retention * 1000;
    try {
      while (!this.#stopped && (await removeOldEvents(store, before)))
        await pause(breathMs, undefined, { ref: false });
    } catch (error) {
      if (!this.#stopped) log.warn({ err: error }, 'removing old events failed');
    }
  }

  async #freeAll(): Promise<void> {
    const { store, log } = this.#parts;
    if (store.dialect !== 'sqlite') return;
    try {
      await store.write(freeAll());
    } catch (error) {
      log.warn({ err: error }, 'taking up deliveries again takes a while');
    }
  }

  async #look(): Promise<void> {
    if (this.#stopped || this.#busy.size >= mostAtOnce) return;
    try {
      for (const queue of await queuesWithWork(this.#parts.store, mostQueues)) {
        if (this.#stopped || this.#busy.size >= mostAtOnce) return;
        if (this.#busy.has(queue)) continue;
        const work = this.#drain(queue).finally(() => this.#busy.delete(queue));
        this.#busy.set(queue, work);
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'looking for events to deliver failed');
    }
  }

  async #drain(queue: string): Promise<void> {
    const { store, config, log } = this.#parts;
    const leaseMs = config.webhook_timeout * 1000 + leaseMarginMs;
    try {
      while (!this.#stopped) {
        const taken = await takeFirst(store, queue, Date.now(), leaseMs);
        if (taken === undefined) return;
        await this.#attempt(taken);
      }
    } catch (error) {
      // The store is away, most likely: the delivery is taken on again when its lease is over.
      log.warn({ err: error, queue }, 'delivering an event failed');
    }
  }

  async #attempt(taken: Taken): Promise<void> {
    const { delivery } = taken;
    try {
      if (delivery.kind === 'link') return await deliverToReactor(this.#parts, taken);
      const stopping = this.#stopping.signal;
      const code = await deliverToWebhook({ ...this.#parts, stopping }, taken);
      const ended = { id: delivery.id, status: 'DELIVERED', problem: '', now: Date.now() } as const;
      await this.#parts.store.write(endDelivery({ ...ended, code }));
    } catch (error) {
      if (!(error instanceof Undelivered)) throw error;
      await this.#noteFailure(delivery, error);
    }
  }

  async #noteFailure({ id, attempts }: Delivery, failure: Undelivered): Promise<void> {
    const { store, config } = this.#parts;
    const { code, lasting } = failure;
    const problem = failure.message.slice(0, longestProblem);
    const now = Date.now();
    if (this.#stopped) {
      await store.write(tryAgainLater({ id, code, problem, nextAt: now }));
      return;
    }
    if (lasting || attempts >= config.webhook_attempts) {
      await store.write(endDelivery({ id, status: 'FAILED', code, problem, now }));
      return;
    }
    const wait = Math.min(config.webhook_pause * 1000 * 2 ** (attempts - 1), longestPauseMs);
    // Not all at the same moment, when a receiver comes back.
    const nextAt = now + Math.round(wait * (0.9 + Math.random() * 0.2));
    await store.write(tryAgainLater({ id, code, problem, nextAt }));
  }
}
