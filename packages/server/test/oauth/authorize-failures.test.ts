import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fail } from '../../src/errors.ts';
import { failedAddress } from '../../src/oauth/authorize-outcome.ts';
import { StoreUnavailable } from '../../src/store/store-errors.ts';
import { answerOf } from '../harness/authorize-scene.ts';

describe('when the service fails after the client is known, the client hears', () => {
  const target = {
    redirectUri: 'https://app.example.org/cb',
    responseType: 'code',
    state: 's',
  } as const;
  const issuer = 'https://reactors.example.org';
  const answerTo = (error: unknown) =>
    answerOf({ location: failedAddress(target, issuer, error) }).query;

  test('temporarily_unavailable when trying again makes sense', () => {
    for (const error of [new StoreUnavailable('away'), fail('busy'), fail('shutting_down')]) {
      assert.deepEqual(answerTo(error), {
        error: 'temporarily_unavailable',
        error_description: 'Try again in a moment.',
        state: 's',
        iss: issuer,
      });
    }
  });

  test('server_error otherwise, and nothing of what failed', () => {
    const { error, error_description } = answerTo(new Error('secret detail'));
    assert.equal(error, 'server_error');
    assert.ok(!error_description?.includes('secret'));
  });
});
