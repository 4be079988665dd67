import type { Config } from '../config.ts';
import { fail } from '../errors.ts';

/** How much a client may ask of the service; the operator sets the rates. */
export const tiers = ['Unlimited', 'Gold', 'Silver', 'Bronze'] as const;

export type Tier = (typeof tiers)[number];

/** The tier of that name in any case; undefined when there is none. */
export function readTier(given: string): Tier | undefined {
  return tiers.find((tier) => tier.toLowerCase() === given.toLowerCase());
}

/** Requests a minute; null: as many as there are. */
export type TierRates = Readonly<Record<Tier, number | null>>;

export function tierRates(
  config: Pick<Config, 'tier_gold' | 'tier_silver' | 'tier_bronze'>,
): TierRates {
  return {
    Unlimited: null,
    Gold: config.tier_gold,
    Silver: config.tier_silver,
    Bronze: config.tier_bronze,
  };
}

/** Seconds that count: what happened before them is forgotten. */
const windowSeconds = 60;
const mostPairs = 20_000;

interface Window {
  /** Requests of each second of the last minute; second `s` is at place `s % 60`. */
  readonly counts: Uint32Array;
  total: number;
  /** The second that was counted last. */
  second: number;
}

/**
 * Counts the requests of a client and a user together over the last 60 seconds. A refused request does not count, so
 * whoever waits as told gets through. Each process counts for itself.
 */
export class TierLimiter {
  readonly #rates: TierRates;
  readonly #now: () => number;
  /** In order of last use, so that the first is the one to forget when there are too many. */
  readonly #windows = new Map<string, Window>();

  constructor(rates: TierRates, now: () => number = () => performance.now()) {
    this.#rates = rates;
    this.#now = now;
  }

  /** Throws too_many_requests with Retry-After once the tier's rate is used up. */
  take(clientId: string, userId: string, tier: Tier): void {
    const rate = this.#rates[tier];
    if (rate === null) return;
    const second = Math.floor(this.#now() / 1000);
    const window = this.#window(`${clientId} ${userId}`, second);
    if (window.total < rate) {
      const place = second % windowSeconds;
      window.counts[place] = (window.counts[place] ?? 0) + 1;
      window.total += 1;
      return;
    }
    const seconds = secondsUntilBelow(window, rate);
    throw fail('too_many_requests', {
      problem: `The client's tier ${tier} allows ${rate} requests a minute for each user.`,
      seconds,
    }).withHeaders({ 'retry-after': String(seconds) });
  }

  get size(): number {
    return this.#windows.size;
  }

  #window(pair: string, second: number): Window {
    const known = this.#windows.get(pair);
    const window = known ?? { counts: new Uint32Array(windowSeconds), total: 0, second };
    if (known !== undefined) this.#windows.delete(pair);
    this.#windows.set(pair, window);
    if (this.#windows.size > mostPairs) this.#forgetOldest();
    advance(window, second);
    return window;
  }

  #forgetOldest(): void {
    for (const pair of this.#windows.keys()) {
      this.#windows.delete(pair);
      return;
    }
  }
}

/** Empties the seconds that have passed since the window was last looked at. */
function advance(window: Window, second: number): void {
  const passed = Math.min(second - window.second, windowSeconds);
  for (let step = 1; step <= passed; step += 1) {
    const place = (window.second + step) % windowSeconds;
    window.total -= window.counts[place] ?? 0;
    window.counts[place] = 0;
  }
  window.second = second;
}

/** After how many seconds enough of the oldest requests have left the window. */
function secondsUntilBelow(window: Window, rate: number): number {
  let left = window.total;
  for (let wait = 1; wait < windowSeconds; wait += 1) {
    left -= window.counts[(window.second + wait) % windowSeconds] ?? 0;
    if (left < rate) return wait;
  }
  return windowSeconds;
}
