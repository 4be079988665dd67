import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullFailure } from '../../src/engines/docker/pull-sentences.ts';
import { readReference } from '../../src/engines/image-reference.ts';

function referenceTo(text: string) {
  const image = readReference(text);
  assert.ok(image);
  return image;
}

test('the number of a port is not taken for a status', () => {
  for (const port of [404, 40449, 14042, 5030]) {
    const registry = `127.0.0.1:${port}`;
    const words = `Get "http://${registry}/v2/": dial tcp ${registry}: connect: connection refused`;
    const { reason, message } = pullFailure(referenceTo(`${registry}/x:1`), words, false);
    assert.equal(reason, 'unreachable');
    assert.equal(message, `registry ${registry} cannot be reached (connection refused)`);
  }
});

test('a status is', () => {
  const image = referenceTo('127.0.0.1:5000/x:1');
  assert.equal(
    pullFailure(image, 'received status code: 404 Not Found', false).reason,
    'not found',
  );
  assert.equal(pullFailure(image, 'status code: 503', false).reason, 'unreachable');
});
