import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { AddressRefused, postWebhook } from '../../src/events/post-webhook.ts';
import { mayReach } from '../../src/reactors/webhook-address.ts';
import { openReceiver } from '../harness/webhook-receiver.ts';

const call = (url: string, allowed: readonly string[]) =>
  postWebhook({
    url,
    allowed,
    body: '{}',
    headers: {},
    timeoutMs: 2_000,
    stopping: new AbortController().signal,
  });

test('what belongs to the machine, the link or a private network is not reached, however it is written', () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const closed = [
    '127.0.0.1',
    '127.255.0.3',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::1',
    'ff02::1',
    '',
    'example.org',
    ...own.map(({ address }) => address),
  ];
  for (const address of closed) assert.equal(mayReach(address, []), false, address);
  for (const address of ['93.184.215.14', '172.32.0.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])
    assert.equal(mayReach(address, []), true, address);
  const allowed = ['10.0.0.0/8', '::1'];
  assert.equal(mayReach('10.9.9.9', allowed), true);
  assert.equal(mayReach('::1', allowed), true);
  assert.equal(mayReach('127.0.0.1', allowed), false);
});

test('a name is judged by the address that it stands for when it is connected', async () => {
  const receiver = await openReceiver();
  try {
    await assert.rejects(call(`http://localhost:${receiver.port}/`, []), AddressRefused);
    await assert.rejects(call(`${receiver.url}/`, []), AddressRefused);
    assert.equal(receiver.received.length, 0);
    assert.equal(await call(`http://localhost:${receiver.port}/`, ['127.0.0.1']), 204);
  } finally {
    await receiver.close();
  }
});
