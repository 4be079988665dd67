import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('every reply', () => {
  let service: RunningService;
  before(async () => {
    service = await startService();
  });
  after(() => service.dispose());

  const call = async (path: string, init: RequestInit = {}) => {
    const reply = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) };
  };

  test('comes in the envelope', async () => {
    const { status, json } = await call('/health');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json()).sort(), ['message', 'result', 'status', 'version']);
    assert.equal(json().status, 'success');
  });

  test('is the bare result with naked=true and indented by two spaces with pretty', async () => {
    assert.deepEqual(Object.keys((await call('/health?naked=true')).json()), ['uptime']);
    assert.deepEqual(Object.keys((await call('/health?naked')).json()), ['uptime']);
    assert.match((await call('/health?pretty=true&naked=1')).text, /^\{\n {2}"uptime": \d+\n\}$/);
    assert.doesNotMatch((await call('/health?pretty=false')).text, /\n/);
  });

  test('refuses a naked or pretty that is neither true nor false, by name', async () => {
    for (const name of ['naked', 'pretty']) {
      const { status, json } = await call(`/health?${name}=maybe`);
      assert.equal(status, 400);
      assert.equal(json().message, `${name}: takes true or false`);
      assert.equal(json().result, null);
    }
  });

  test('does not care about trailing and doubled slashes, and never redirects', async () => {
    for (const path of ['/health/', '//health', '//health//', '/health/?naked=true']) {
      assert.equal((await call(path)).status, 200, path);
    }
  });

  test('is 404 in the envelope for an unknown path, whatever the body', async () => {
    const plain = await call('/nowhere/at?all=1');
    assert.equal(plain.status, 404);
    assert.deepEqual(plain.json(), {
      status: 'error',
      message: 'There is nothing at /nowhere/at. See /docs for every operation.',
      result: null,
      version: plain.json().version,
    });
    const posted = await call('/nowhere', {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(posted.status, 404);
  });

  test('is 405 with Allow for a known path with a wrong verb', async () => {
    const { status, headers, json } = await call('/health/', { method: 'DELETE' });
    assert.equal(status, 405);
    assert.equal(headers.get('allow'), 'GET, HEAD');
    assert.match(json().message, /DELETE is not allowed on \/health\/\. Allowed: GET, HEAD\./);
  });

  test('answers HEAD without a body', async () => {
    const { status, text } = await call('/health', { method: 'HEAD' });
    assert.equal(status, 200);
    assert.equal(text, '');
  });

  test('carries a request id: the caller’s when it is plain, a new one otherwise', async () => {
    const own = await call('/health', { headers: { 'x-request-id': 'run-42' } });
    assert.equal(own.headers.get('x-request-id'), 'run-42');
    const forged = await call('/health', { headers: { 'x-request-id': '"},{"level":60' } });
    assert.match(forged.headers.get('x-request-id') ?? '', /^[0-9A-Za-z]{14}-[0-9a-z]+$/);
  });

  test('lets browsers of any origin read the API, without cookies', async () => {
    const { headers } = await call('/health', { headers: { origin: 'https://app.example.org' } });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('access-control-allow-credentials'), null);
    const preflight = await call('/health', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.org',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD');
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization');
  });

  test('says what is wrong with an address that cannot be decoded or is too long', async () => {
    const broken = await call('/health%zz');
    assert.equal(broken.status, 400);
    assert.equal(broken.json().status, 'error');
    assert.match(broken.json().message, /percent-encoding/);
    assert.equal((await call(`/health?x=${'y'.repeat(20_000)}`)).status, 431);
  });

  test('is 400 in the envelope for bytes that are not HTTP', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write('hello there\r\n\r\n');
    const [reply] = await once(socket, 'data');
    assert.match(String(reply), /^HTTP\/1\.1 400 Bad Request\r\n.*\r\n\r\n\{"status":"error"/s);
    socket.destroy();
  });
});
