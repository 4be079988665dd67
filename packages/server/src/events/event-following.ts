import type { EventType } from '../store/event-tables.ts';
import type { Store } from '../store/store.ts';
import { type EventRow, eventPayload } from './event.ts';

export interface FollowedEvents {
  /** Undefined: everybody's. */
  readonly ownerId: string | undefined;
  readonly reactorId: string | undefined;
  readonly types: readonly EventType[] | undefined;
  /** Behind the event of this number; undefined: what comes from now on. */
  readonly after: number | undefined;
  /** Whether whoever follows may still do so. */
  readonly stillAllowed: () => boolean | Promise<boolean>;
}

/** One look for all who follow, only while somebody does; on the store, since other processes write events too. */
const lookMs = 200;
const keepAliveMs = 15_000;
const eventsAtOnce = 200;

/**
 * Those who follow events. Each reads from the store at its own pace, so that a slow one holds up nobody and has nothing
 * gathered for it.
 */
export class EventFollowing {
  readonly #store: Store;
  readonly #tenant: string;
  readonly #followers = new Set<() => void>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #newest = -1;
  #looking = false;

  constructor(store: Store, tenant: string) {
    this.#store = store;
    this.#tenant = tenant;
  }

  /** Ends every stream; those who follow find a service again and go on from where they were. */
  stop(): void {
    this.#stopping.abort();
    clearInterval(this.#timer);
  }

  /** How many follow. */
  get size(): number {
    return this.#followers.size;
  }

  /** Server-sent events. `left`: the client has gone. */
  async *events(wish: FollowedEvents, left: AbortSignal): AsyncGenerator<Buffer> {
    const ended = AbortSignal.any([left, this.#stopping.signal]);
    const bell = this.#listen(ended);
    try {
      // Sent at once, so that the client knows that it is connected; and how soon it should come back.
      yield Buffer.from('retry: 1000\n\n');
      let place = wish.after ?? (await this.#newestNumber());
      let lastSent = performance.now();
      while (!ended.aborted && (await wish.stillAllowed())) {
        const newest = await this.#newestNumber();
        const found = await this.#read(wish, place, newest);
        const isAll = found.length < eventsAtOnce;
        // Also past what was not asked for, so that it is not looked through again and again.
        place = Math.max(place, isAll ? newest : (found.at(-1)?.id ?? newest));
        if (found.length > 0) {
          yield Buffer.from(found.map((event) => eventText(event, this.#tenant)).join(''));
          lastSent = performance.now();
          if (!isAll) continue;
        } else if (performance.now() - lastSent >= keepAliveMs) {
          yield Buffer.from(': still here\n\n');
          lastSent = performance.now();
        }
        await bell.wait();
      }
    } finally {
      bell.close();
    }
  }

  #read(
    { ownerId, reactorId, types }: FollowedEvents,
    after: number,
    upTo: number,
  ): Promise<EventRow[]> {
    let query = this.#store.read
      .selectFrom('events')
      .selectAll()
      .where('id', '>', after)
      .where('id', '<=', upTo)
      .orderBy('id')
      .limit(eventsAtOnce);
    if (ownerId !== undefined) query = query.where('owner_id', '=', ownerId);
    if (reactorId !== undefined) query = query.where('reactor_id', '=', reactorId);
    if (types !== undefined) query = query.where('type', 'in', types);
    return query.execute();
  }

  async #newestNumber(): Promise<number> {
    const counter = await this.#store.read
      .selectFrom('counters')
      .select('value')
      .where('name', '=', 'event')
      .executeTakeFirst();
    return counter?.value ?? 0;
  }

  #listen(ended: AbortSignal): { wait(): Promise<void>; close(): void } {
    let waiting: (() => void) | undefined;
    // Rung before anybody waits: there may be something that the look before has not told of.
    let rung = true;
    const ring = (): void => {
      rung = true;
      waiting?.();
    };
    this.#followers.add(ring);
    ended.addEventListener('abort', ring, { once: true });
    this.#timer ??= setInterval(() => void this.#look(), lookMs);
    this.#timer.unref();
    return {
      wait: async () => {
        if (!rung && !ended.aborted)
          await new Promise<void>((resolve) => {
            // Also without news: somebody's permission may have ended, and connections need a sign of life.
            const timer = setTimeout(resolve, 1000);
            waiting = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        waiting = undefined;
        rung = false;
      },
      close: () => {
        this.#followers.delete(ring);
        if (this.#followers.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const newest = await this.#newestNumber();
      if (newest === this.#newest) return;
      this.#newest = newest;
      for (const ring of this.#followers) ring();
    } catch {
      // The store is away; those who follow meet that by themselves.
    } finally {
      this.#looking = false;
    }
  }
}

const eventText = (event: EventRow, tenant: string): string =>
  `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(eventPayload(event, tenant))}\n\n`;
