import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeReference, readReference } from '../../src/engines/image-reference.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('an image reference', () => {
  const taken: readonly (readonly [string, string, string])[] = [
    ['busybox', 'docker.io', 'busybox:latest'],
    ['some/thing:1.2', 'docker.io', 'some/thing:1.2'],
    ['localhost/x', 'localhost', 'localhost/x:latest'],
    ['host:5000/x', 'host:5000', 'host:5000/x:latest'],
    ['127.0.0.1:5000/a/b/c:v1', '127.0.0.1:5000', '127.0.0.1:5000/a/b/c:v1'],
    ['[::1]:5000/x:y', '[::1]:5000', '[::1]:5000/x:y'],
    ['ghcr.io/a-b/c__d.e:X_1-2.3', 'ghcr.io', 'ghcr.io/a-b/c__d.e:X_1-2.3'],
    [`busybox@${digest}`, 'docker.io', `busybox@${digest}`],
    [`reg.io/x:1@${digest}`, 'reg.io', `reg.io/x@${digest}`],
  ];
  for (const [text, registry, whole] of taken) {
    test(`${text.slice(0, 30)} is ${whole.slice(0, 40)} in ${registry}`, () => {
      const parsed = readReference(text);
      assert.ok(parsed);
      assert.equal(parsed.registry, registry);
      assert.equal(describeReference(parsed), whole);
    });
  }

  const refused = [
    '',
    ' ',
    'A',
    'a b',
    'a:',
    ':a',
    'a/',
    '/a',
    'a//b',
    'a:b:c',
    'https://a/b',
    'a@b',
    '-a',
    'a..b',
    `${'a/'.repeat(130)}a`,
    'UP/x',
    `a:${'t'.repeat(129)}`,
  ];
  for (const text of refused) {
    test(`${JSON.stringify(text.slice(0, 20))} is none`, () => {
      assert.equal(readReference(text), undefined);
    });
  }
});
