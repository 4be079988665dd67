import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { HashQueue } from '../../src/identity/hash-queue.ts';
import {
  hashPassword,
  passwordMatches,
  unmatchableHash,
} from '../../src/identity/password-hash.ts';

test('two hashes run at a time, 64 wait, and the next one is told when to come again', async () => {
  const queue = new HashQueue();
  let running = 0;
  let most = 0;
  const hash = async () => {
    running += 1;
    most = Math.max(most, running);
    const made = await hashPassword('some password');
    running -= 1;
    return made;
  };
  const accepted = Array.from({ length: 66 }, () => queue.run(hash));
  await assert.rejects(queue.run(hash), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.status, 503);
    assert.equal(error.headers['retry-after'], '1');
    return true;
  });
  const hashes = await Promise.all(accepted);
  assert.equal(most, 2);
  assert.equal(new Set(hashes).size, 66);
  assert.ok(await queue.run(() => passwordMatches('some password', hashes[65] ?? '')));
});

test('a hash that fails gives its place to the next', async () => {
  const queue = new HashQueue({ running: 1, waiting: 1 });
  const failing = queue.run(() => Promise.reject(new Error('broken')));
  const next = queue.run(async () => 'next');
  await assert.rejects(failing, /broken/);
  assert.equal(await next, 'next');
  assert.equal(await queue.run(async () => 'again'), 'again');
});

test('no password fits the hash for users that do not exist, which takes as long as a real one', async () => {
  const real = await hashPassword('some password');
  const time = async (stored: string) => {
    const times = [];
    for (let round = 0; round < 8; round += 1) {
      const start = performance.now();
      assert.equal(await passwordMatches('wrong', stored), false);
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[3] ?? 0;
  };
  const [known, unknown] = [await time(real), await time(unmatchableHash())];
  assert.ok(unknown > known / 2 && unknown < known * 2, `${known} ms and ${unknown} ms`);
});
