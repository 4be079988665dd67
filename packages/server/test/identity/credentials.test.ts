import assert from 'node:assert/strict';
import { argon2Sync, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { isOutdated } from '../../src/identity/password-hash.ts';
import { prepared } from '../../src/store/statement.ts';
import { openIdentityScene } from '../harness/identity-scene.ts';

const password = 'a long enough word';
const here = '192.0.2.1';

const setHash = prepared((db, p: { id: string; hash: string }) =>
  db.updateTable('users').set({ password_hash: p.hash }).where('id', '=', p.id),
);

describe('a username and a password', () => {
  let scene: Awaited<ReturnType<typeof openIdentityScene>>;
  let id: string;
  beforeEach(async () => {
    scene = await openIdentityScene();
    ({ id } = await scene.users.create({ username: 'ada', password }));
  });
  afterEach(() => scene.dispose());

  const check = (username: string, given: string, address = here) =>
    scene.credentials.check(username, given, address);
  const tooMany = (error: unknown) =>
    error instanceof ServiceError && error.code === 'too_many_requests';

  /** Guesses until guesses are held up; on a slow machine the first short waits may be over by then. */
  const guessUntilHeldUp = async (username: string, address = here): Promise<string> => {
    for (let guess = 0; guess < 20; guess += 1) {
      try {
        assert.equal(await check(username, `guess ${guess}`, address), undefined);
      } catch (error) {
        assert.ok(error instanceof ServiceError && tooMany(error));
        assert.ok(guess >= 6, `held up after ${guess}`);
        return error.message;
      }
    }
    throw new Error('guesses are never held up');
  };

  test('that belong together give the user, and nothing else does', async () => {
    assert.equal((await check('ada', password))?.id, id);
    const wrong: [string, string][] = [
      ['ada', `${password} `],
      ['ada', ''],
      ['ADA', password],
      ['nobody', password],
    ];
    for (const [place, pair] of wrong.entries())
      assert.equal(await check(...pair, `192.0.2.${place + 10}`), undefined, pair[0]);
  });

  test('may be of any kind without an error', async () => {
    const odd = [
      '\0',
      'a\0b',
      '\ud800',
      '😀',
      'x'.repeat(100_000),
      '',
      '../..',
      '%00',
      '__proto__',
    ];
    for (const [place, text] of odd.entries()) {
      assert.equal(await check(text, password, `10.0.0.${place}`), undefined);
      assert.equal(await check('ada', text, `10.0.1.${place}`), undefined);
    }
  });

  test('are remembered, so that the second time is quick', async () => {
    const time = async () => {
      const start = performance.now();
      assert.ok(await check('ada', password));
      return performance.now() - start;
    };
    const first = await time();
    const later = Math.min(await time(), await time(), await time());
    assert.ok(later < first / 3, `${first} ms, then ${later} ms`);
  });

  test('are forgotten at once when the user is disabled, changed or removed', async () => {
    await check('ada', password);
    await scene.users.change(id, { status: 'disabled' });
    assert.equal(await check('ada', password), undefined);
    await scene.users.change(id, { status: 'active' });
    assert.ok(await check('ada', password));
    await scene.users.change(id, { password: 'another long one' });
    assert.equal(await check('ada', password), undefined);
    assert.ok(await check('ada', 'another long one'));
    await scene.users.remove(id);
    assert.equal(await check('ada', 'another long one'), undefined);
  });

  test('are forgotten at once when another process changes the user', async () => {
    await check('ada', password);
    const other = await scene.again();
    await other.users.change(id, { status: 'disabled' });
    assert.equal(await check('ada', password), undefined);
  });

  test('are not even looked at while one has to wait, right or wrong', async () => {
    await guessUntilHeldUp('ada');
    await assert.rejects(check('ada', password), tooMany);
    await assert.rejects(check('ada', 'wrong'), tooMany);
    assert.ok(await check('ada', password, '198.51.100.1'));
  });

  test('that are remembered work on while somebody else guesses', async () => {
    assert.ok(await check('ada', password));
    await guessUntilHeldUp('ada');
    assert.ok(await check('ada', password));
  });

  test('of an unknown user are answered like those of a known one', async () => {
    const known = await guessUntilHeldUp('ada', '10.1.0.1');
    const unknown = await guessUntilHeldUp('nobody', '10.2.0.1');
    assert.match(known, /^Too many failed logins\. Try again in \d+ s\.$/);
    assert.equal(unknown.replace(/\d+/, ''), known.replace(/\d+/, ''));
  });

  test('guessed a hundred times at once count a hundred times', async () => {
    const guesses = Array.from({ length: 100 }, (_, place) => check('ada', `guess ${place}`));
    const outcomes = await Promise.allSettled(guesses);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 6);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.ok(tooMany(outcome.reason));
    }
  });

  test('sent a hundred times at once by the right person are all let in', async () => {
    const users = await Promise.all(Array.from({ length: 100 }, () => check('ada', password)));
    assert.ok(users.every((user) => user?.id === id));
  });

  test('are hashed again when the hash is of less than today’s cost', async () => {
    const nonce = randomBytes(16);
    const cost = { memory: 8192, passes: 1, parallelism: 1 };
    const tag = argon2Sync('argon2id', { message: password, nonce, tagLength: 32, ...cost });
    const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
    const hash = `$argon2id$v=19$m=8192,t=1,p=1$${text(nonce)}$${text(tag)}`;
    await scene.store.write(setHash({ id, hash }));
    assert.equal(await check('ada', 'wrong'), undefined);
    assert.ok(isOutdated((await scene.users.byId(id))?.passwordHash ?? ''));
    assert.ok(await check('ada', password));
    const renewed = (await scene.users.byId(id))?.passwordHash ?? '';
    assert.ok(!isOutdated(renewed));
    assert.ok(await check('ada', password, '198.51.100.9'));
  });
});
