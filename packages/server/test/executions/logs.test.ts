import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';

/** What a reader of logs gets. */

const limit = 24 * 1024 * 1024;
let scene: Scene;
let stranger: Sender;

before(async () => {
  scene = await openScene({ environment: { REACTORD_LOG_LIMIT: String(limit) } });
  stranger = await scene.user('stranger');
});

after(() => scene.dispose());

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

const logsOf = (reactorId: string, executionId: string, query = '') =>
  scene.admin.call('GET', `/${reactorId}/executions/${executionId}/logs`, { query });

test('the logs are what the container wrote, both streams in order, to the last unterminated byte', async () => {
  const id = await runs(
    'echo one; sleep 0.2; echo two >&2; sleep 0.2; printf "three\\r\\n"; sleep 0.2; printf four >&2',
  );
  const { id: run, log } = await scene.admin.runOnce(id);
  assert.equal(log, 'one\ntwo\nthree\r\nfour');
  const reply = await logsOf(id, run);
  const address = `${scene.service.url}/actors/v2/${id}/executions/${run}`;
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(reply.json(), {
    status: 'success',
    message: 'Logs retrieved successfully.',
    result: {
      logs: 'one\ntwo\nthree\r\nfour',
      _links: {
        execution: address,
        owner: `${scene.service.url}/profiles/v2/admin`,
        self: `${address}/logs`,
      },
    },
    version: reply.json().version,
  });
  for (const [query, logs] of [
    ['?stream=stdout', 'one\nthree\r\n'],
    ['?stream=stderr', 'two\nfour'],
    ['?tail=2', 'three\r\nfour'],
    ['?tail=0', ''],
    ['?tail=99', 'one\ntwo\nthree\r\nfour'],
    ['?tail=1&stream=stdout', 'three\r\n'],
    ['?follow=false', 'one\ntwo\nthree\r\nfour'],
  ] as const)
    assert.equal((await logsOf(id, run, query)).json().result.logs, logs, query);
  const other = await scene.admin.call('GET', `/${id}/executions/${run}/logs`, {
    area: '/reactors/v2',
  });
  assert.equal(other.text, reply.text);
});

test('naked and pretty do with logs what they do elsewhere', async () => {
  const id = await runs("printf '%s\\n' 'a\"b\\'");
  const { id: run } = await scene.admin.runOnce(id);
  const naked = await logsOf(id, run, '?naked=true');
  assert.deepEqual(Object.keys(naked.json()), ['logs', '_links']);
  assert.equal(naked.json().logs, 'a"b\\\n');
  const pretty = await logsOf(id, run, '?pretty=true');
  assert.equal(pretty.text, JSON.stringify(pretty.json(), null, 2));
  assert.equal((await logsOf(id, run, '?naked=perhaps')).status, 400);
});

test('bytes that are no text are replaced, and whole characters never are', async () => {
  const id = await runs(
    // A character of four bytes in four writes, a byte that begins nothing, NUL and an escape.
    'printf "\\360"; sleep 0.2; printf "\\237"; sleep 0.2; printf "\\232\\200|\\377|\\0|\\033[1m"',
  );
  const { log } = await scene.admin.runOnce(id);
  assert.equal(log, '🚀|\uFFFD|\0|\u001B[1m');
});

test('the token of the execution is not in its log, however it was written', async () => {
  const id = await runs(
    'echo "token $_svc_access_token."; t=$_svc_access_token; printf "%s" "${t%??????????}"; sleep 0.4; ' +
      'printf "%s" "${t#"${t%??????????}"}"; echo " end"',
  );
  const { log } = await scene.admin.runOnce(id);
  assert.equal(log, 'token [redacted].\n[redacted] end\n');
});

test('a log over the limit says how much is missing', async () => {
  const bytes = limit + 1_234_567;
  const id = await runs(`yes "0123456789012345678901234567890123456789" | head -c ${bytes}`);
  const { id: run, log } = await scene.admin.runOnce(id);
  const notice = `[reactord: 1234567 more bytes were written and not kept; the limit of a log is ${limit} bytes]\n`;
  assert.ok(log.endsWith(notice));
  assert.match(log.slice(limit - 50, limit + 1), /^[0-9\n]+$/);
  const last = (await logsOf(id, run, '?tail=1')).json().result.logs;
  assert.ok(last.endsWith(`\n${notice}`) && last.length < 200, last);
  assert.equal((await logsOf(id, run, '?stream=stderr')).json().result.logs, '');
});

test('a large log goes out without being held in memory, also to a slow reader', async () => {
  const id = await runs(`yes "a line of a large log, which goes on" | head -c ${limit}`);
  const { id: run } = await scene.admin.runOnce(id);
  const before = memoryOf(scene.service.pid);
  const reply = await fetch(
    `${scene.service.url}/actors/v2/${id}/executions/${run}/logs?naked=true`,
    { headers: { authorization: `Bearer ${scene.admin.token}` } },
  );
  let bytes = 0;
  let most = 0;
  for await (const piece of reply.body ?? []) {
    bytes += piece.length;
    most = Math.max(most, memoryOf(scene.service.pid) - before);
  }
  assert.ok(bytes > limit);
  assert.ok(most < 40_000_000, `${Math.round(most / 1e6)} MB more at the most`);
});

test('no log is an empty one', async () => {
  const id = await runs('true');
  const { log } = await scene.admin.runOnce(id);
  assert.equal(log, '');
});

test('logs exist for those who may know of the execution, under its own reactor', async () => {
  const id = await runs('echo mine');
  const elsewhere = await runs('true');
  const { id: run } = await scene.admin.runOnce(id);
  for (const reply of [
    await stranger.call('GET', `/${id}/executions/${run}/logs`),
    await stranger.call('GET', `/${id}/executions/${run}/logs`, { query: '?follow=true' }),
    await scene.admin.call('GET', `/${elsewhere}/executions/${run}/logs`),
    await scene.admin.call('GET', `/${id}/executions/nosuchone/logs`),
    await scene.admin.call('GET', `/${id}/executions/%00/logs`),
    await scene.admin.call('GET', `/${id}/executions/${'x'.repeat(200)}/logs`),
  ])
    assert.equal(reply.status, 404, reply.text);
});

test('what is asked for wrongly is refused by name', async () => {
  const id = await runs('true');
  const { id: run } = await scene.admin.runOnce(id);
  for (const [query, field] of [
    ['?stream=stdin', 'stream'],
    ['?tail=-1', 'tail'],
    ['?tail=many', 'tail'],
    ['?follow=perhaps', 'follow'],
    ['?follow=true&after=x', 'after'],
  ] as const) {
    const reply = await logsOf(id, run, query);
    assert.equal(reply.status, 400, reply.text);
    assert.ok(reply.json().message.startsWith(`${field}: `), reply.text);
  }
});

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
