import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { addressBlock } from '../../src/identity/address-block.ts';
import { FailedLogins } from '../../src/identity/failed-logins.ts';
import { LoginLimits } from '../../src/identity/login-limits.ts';

function scene() {
  let now = 1_000_000;
  const limits = new LoginLimits(() => now);
  return {
    limits,
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    /** Seconds to wait, or 0 when the attempt was let through, and failed. */
    fail: (username: string, address = '192.0.2.1'): number => {
      try {
        limits.begin(username, address);
        return 0;
      } catch (error) {
        assert.ok(error instanceof ServiceError && error.code === 'too_many_requests');
        return Number(error.headers['retry-after']);
      }
    },
  };
}

describe('failed logins', () => {
  test('are free five times, then wait 1 s, 2 s, 4 s and so on up to 15 minutes, never for ever', () => {
    const { fail, pass } = scene();
    for (let free = 0; free < 5; free += 1) assert.equal(fail('ada'), 0);
    const waits = [];
    for (let round = 0; round < 13; round += 1) {
      assert.equal(fail('ada'), 0);
      const wait = fail('ada');
      waits.push(wait);
      pass(wait);
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  test('do not get longer by trying while one has to wait', () => {
    const { fail, pass } = scene();
    for (let round = 0; round < 6; round += 1) fail('ada');
    for (let round = 0; round < 50; round += 1) assert.equal(fail('ada'), 1);
    pass(1);
    assert.equal(fail('ada'), 0);
    assert.equal(fail('ada'), 2);
  });

  test('of all cases of a name count together', () => {
    const { fail } = scene();
    for (const name of ['ada', 'Ada', 'ADA', 'aDa', 'adA', 'AdA']) fail(name);
    assert.equal(fail('ada'), 1);
  });

  test('are forgotten with a success, and after a day', () => {
    const { limits, fail, pass } = scene();
    for (let round = 0; round < 4; round += 1) fail('ada');
    limits.succeeded(limits.begin('ada', '192.0.2.1'));
    for (let round = 0; round < 6; round += 1) assert.equal(fail('ada'), 0);
    assert.equal(fail('ada'), 1);
    pass(24 * 3600);
    for (let round = 0; round < 6; round += 1) assert.equal(fail('ada'), 0);
  });

  test('at many users from one address hold up the address', () => {
    const { fail } = scene();
    for (let round = 0; round < 21; round += 1) assert.equal(fail(`user${round}`), 0);
    assert.equal(fail('another'), 1);
    assert.equal(fail('another', '192.0.2.2'), 0);
  });

  test('from one IPv6 network count together', () => {
    const { fail } = scene();
    for (let round = 0; round < 21; round += 1) fail(`user${round}`, `2001:db8:1:2::${round + 1}`);
    assert.equal(fail('another', '2001:db8:1:2:ffff::9'), 1);
    assert.equal(fail('another', '2001:db8:1:3::1'), 0);
  });

  test('from everywhere slow a user down, but not where the user has logged in before', () => {
    const { limits, fail } = scene();
    limits.succeeded(limits.begin('ada', '198.51.100.7'));
    for (let round = 0; round < 51; round += 1) {
      assert.equal(fail('ada', `10.0.${round}.1`), 0);
    }
    assert.equal(fail('ada', '10.9.9.9'), 1);
    assert.equal(fail('ada', '198.51.100.7'), 0);
    assert.equal(fail('bob', '10.9.9.9'), 0);
  });

  test('are not made undone by logging in with an account of one’s own in between', () => {
    const { limits, fail, pass } = scene();
    for (let round = 0; round < 20; round += 1) fail(`user${round}`);
    const own = limits.begin('mallory', '192.0.2.1');
    limits.succeeded(own);
    assert.equal(fail('victim'), 1);
    pass(1);
    assert.equal(fail('victim'), 0);
    assert.equal(fail('victim'), 1);
  });

  test('take bounded memory', () => {
    const failures = new FailedLogins({ free: 1, mostSeconds: 60, memoryMs: 1e9, keys: 100 });
    for (let key = 0; key < 10_000; key += 1) failures.count(`key ${key}`, 1);
    assert.equal(failures.size, 100);
  });
});

test('an address is counted by its network', () => {
  const blocks = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '2001:0DB8:0:0:1:2:3:4': '2001:db8:0:0',
    '2001:db8::1': '2001:db8:0:0',
    '::1': '0:0:0:0',
    'fe80::1%eth0': 'fe80:0:0:0',
    '': '',
    nonsense: 'nonsense',
  };
  for (const [address, block] of Object.entries(blocks)) assert.equal(addressBlock(address), block);
});
