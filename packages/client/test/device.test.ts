import assert from 'node:assert/strict';
import { type Mock, mock, test } from 'node:test';
import { ConnectionError, OAuthError } from '../src/index.ts';
import { pollDevice } from '../src/tokens/device.ts';

const reply = { access_token: 'a', token_type: 'bearer', expires_in: 60 } as const;
const pending = new OAuthError('authorization_pending', '');
const slower = new OAuthError('slow_down', '');
const lost = new ConnectionError('', undefined);

/** Runs a login against these answers, and says after how many seconds each question was asked. */
async function poll(answers: readonly (Error | typeof reply)[]) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  try {
    const asked: number[] = [];
    const ask: Mock<() => Promise<typeof reply>> = mock.fn(async () => {
      asked.push(Date.now() / 1000);
      const answer = answers[asked.length - 1] ?? pending;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    let over = false;
    const login = pollDevice({ interval: 5, expires_in: 600 }, ask).finally(() => {
      over = true;
    });
    const ended = login.then(
      () => 'logged in',
      (error: Error) => error,
    );
    for (let second = 0; second < 700 && !over; second++) {
      mock.timers.tick(1000);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      await new Promise(setImmediate);
    }
    return { asked, ended: await ended };
  } finally {
    mock.timers.reset();
  }
}

test('a device asks at the interval, slower when it is told so, and less often when nobody answers', async () => {
  const { asked, ended } = await poll([pending, slower, pending, lost, pending, reply]);
  assert.equal(ended, 'logged in');
  assert.deepEqual(asked, [5, 10, 20, 30, 50, 70]);
});

test('a device gives up when its code is over, or the person said no', async () => {
  const { asked, ended } = await poll([]);
  assert.ok(ended instanceof OAuthError);
  assert.equal(ended.code, 'expired_token');
  assert.equal(asked.length, 120);
  const denied = await poll([new OAuthError('access_denied', 'The user said no.')]);
  assert.ok(denied.ended instanceof OAuthError);
  assert.equal(denied.ended.code, 'access_denied');
});
