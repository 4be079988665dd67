import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { readTier, TierLimiter } from '../../src/oauth/tiers.ts';

const rates = { Unlimited: null, Gold: 1000, Silver: 10, Bronze: 2 };

/** The seconds to wait, or undefined when the request may pass. */
function attempt(limiter: TierLimiter, client: string, user: string, tier: 'Silver' | 'Bronze') {
  try {
    limiter.take(client, user, tier);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.status, 429);
    return Number(error.headers['retry-after']);
  }
}

describe('the rate of a tier', () => {
  test('counts for each client and user together', () => {
    const limiter = new TierLimiter(rates, () => 0);
    for (const [client, user] of [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'x'],
    ] as const) {
      assert.equal(attempt(limiter, client, user, 'Bronze'), undefined);
      assert.equal(attempt(limiter, client, user, 'Bronze'), undefined);
      assert.equal(attempt(limiter, client, user, 'Bronze'), 60);
    }
  });

  test('slides with the clock, and whoever waits as told gets through', () => {
    let now = 0;
    const limiter = new TierLimiter(rates, () => now);
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), undefined);
    now = 30_000;
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), undefined);
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), 30);
    now = 59_999;
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), 1);
    now = 60_000;
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), undefined);
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), 30);
    now = 90_000;
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), undefined);
    now = 10_000_000;
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), undefined);
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), undefined);
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), 60);
  });

  test('is never more than allowed in any minute, by the second', () => {
    let now = 0;
    const limiter = new TierLimiter(rates, () => now);
    const passed: number[] = [];
    for (; now < 300_000; now += 730) {
      if (attempt(limiter, 'a', 'x', 'Silver') === undefined) passed.push(Math.floor(now / 1000));
    }
    for (const from of passed) {
      const within = passed.filter((second) => second >= from && second < from + 60);
      assert.ok(within.length <= 10, `${within.length} from ${from}`);
    }
    assert.equal(passed.length, 50);
  });

  test('follows a client that changes its tier', () => {
    const limiter = new TierLimiter(rates, () => 0);
    attempt(limiter, 'a', 'x', 'Silver');
    attempt(limiter, 'a', 'x', 'Silver');
    assert.equal(attempt(limiter, 'a', 'x', 'Bronze'), 60);
    assert.equal(attempt(limiter, 'a', 'x', 'Silver'), undefined);
  });

  test('is kept for a bounded number of pairs, and not at all for Unlimited', () => {
    const limiter = new TierLimiter(rates, () => 0);
    for (let number = 0; number < 30_000; number += 1) limiter.take('a', `user-${number}`, 'Gold');
    assert.equal(limiter.size, 20_000);
    const free = new TierLimiter(rates, () => 0);
    for (let number = 0; number < 1000; number += 1) free.take('a', 'x', 'Unlimited');
    assert.equal(free.size, 0);
  });
});

test('a tier is read in any case', () => {
  assert.equal(readTier('gOLD'), 'Gold');
  assert.equal(readTier(''), undefined);
  assert.equal(readTier('__proto__'), undefined);
});
