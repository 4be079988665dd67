import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** Executions as their records show them. */

let scene: Scene;
let owner: Sender;
let stranger: Sender;

before(async () => {
  scene = await openScene({ environment: { REACTORD_STOP_GRACE: '1s' } });
  owner = await scene.user('owner');
  stranger = await scene.user('stranger');
});

after(() => scene.dispose());

const runs = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  owner.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;

test('a record has what the interface says, before, during and after the run', async () => {
  const id = await runs('sleep 2; exit 4');
  const first = await owner.send(id);
  const second = await owner.send(id);
  const waiting = await owner.record(id, second);
  const address = `${scene.service.url}/actors/v2/${id}/executions/${second}`;
  assert.deepEqual(waiting, {
    id: second,
    actorId: id,
    apiServer: scene.service.url,
    executor: 'owner',
    workerId: null,
    status: 'SUBMITTED',
    statusMessage: '',
    exitCode: null,
    cpu: 0,
    io: 0,
    runtime: 0,
    attempt: 1,
    messageId: second,
    messageReceivedTime: waiting.messageReceivedTime,
    startTime: null,
    finishTime: null,
    finalState: null,
    _links: {
      logs: `${address}/logs`,
      owner: `${scene.service.url}/profiles/v2/owner`,
      self: address,
    },
  });
  assert.match(waiting.messageReceivedTime, time);
  const running = await owner.running(id, first);
  assert.equal(running.status, 'RUNNING');
  assert.equal(typeof running.workerId, 'string');
  assert.match(running.startTime, time);
  assert.deepEqual([running.exitCode, running.finishTime, running.finalState], [null, null, null]);
  const ended = await owner.ended(id, first);
  assert.equal(ended.exitCode, 4);
  assert.match(ended.finishTime, time);
  assert.deepEqual(Object.keys(ended.finalState).sort(), [
    'Dead',
    'Error',
    'ExitCode',
    'FinishedAt',
    'OOMKilled',
    'Paused',
    'Pid',
    'Restarting',
    'Running',
    'StartedAt',
    'Status',
  ]);
  const reply = await owner.call('GET', `/${id}/executions/${first}`);
  assert.deepEqual(Object.keys(reply.json()).sort(), ['message', 'result', 'status', 'version']);
  const other = await owner.call('GET', `/${id}/executions/${first}`, { area: '/reactors/v2' });
  assert.deepEqual(other.json(), reply.json());
});

test('the message can be read back as it was posted', async () => {
  const id = await runs('true');
  const json = '{ "b": 1.0,\n "a": "é" }';
  const bytes = Buffer.from([0, 255, 10, 13, 0]);
  for (const [posted, type, body] of [
    [
      { body: 'message=a+b%0A', type: 'application/x-www-form-urlencoded' },
      'text/plain; charset=utf-8',
      'a b\n',
    ],
    [{ body: json, type: 'application/json' }, 'application/json; charset=utf-8', json],
    [{ body: bytes, type: 'application/octet-stream' }, 'application/octet-stream', bytes],
  ] as const) {
    const reply = await owner.post(id, posted);
    assert.equal(reply.status, 201, reply.text);
    const run = reply.json().result.executionId;
    const read = await fetch(`${scene.service.url}/actors/v2/${id}/executions/${run}/message`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    assert.equal(read.headers.get('content-type'), type);
    assert.ok(Buffer.from(await read.arrayBuffer()).equals(Buffer.from(body)));
    assert.equal((await stranger.call('GET', `/${id}/executions/${run}/message`)).status, 404);
  }
});

test('only a running execution can be halted', async () => {
  const id = await runs('trap "exit 9" TERM; echo up; while :; do sleep 0.1; done');
  const first = await owner.send(id);
  const second = await owner.send(id);
  const halt = (run: string, who = owner) => who.call('DELETE', `/${id}/executions/${run}`);
  const waiting = await halt(second);
  assert.equal(waiting.status, 409);
  assert.match(waiting.json().message, /does not run yet/);
  await until('its trap to be set', async () => (await owner.log(id, first)) === 'up\n');
  assert.equal((await halt(first, stranger)).status, 404);
  const halted = await halt(first);
  assert.equal(halted.status, 200);
  assert.equal(halted.json().result, null);
  const ended = await owner.ended(id, first);
  assert.equal(ended.status, 'COMPLETE');
  assert.equal(ended.exitCode, 9);
  assert.match(ended.finalState.Error, /halted by owner/);
  const over = await halt(first);
  assert.equal(over.status, 409);
  assert.match(over.json().message, /does not run any more/);
  await owner.running(id, second);
  assert.equal((await halt(second)).status, 200);
});

test('an execution exists for its owner and admins, under its own reactor, and for nobody else', async () => {
  const [id, elsewhere] = [await runs('true'), await runs('true')];
  const { id: run } = await owner.runOnce(id);
  assert.equal((await scene.admin.call('GET', `/${id}/executions/${run}`)).status, 200);
  for (const [who, path] of [
    [stranger, `/${id}/executions/${run}`],
    [stranger, `/${id}/executions`],
    [owner, `/${elsewhere}/executions/${run}`],
    [owner, `/${id}/executions/nosuchone`],
    [owner, `/${id}/executions/%00`],
    [owner, '/nosuchone/executions'],
    [owner, `/nosuchone/executions/${run}`],
    [owner, '/%00/executions'],
  ] as const) {
    const reply = await who.call('GET', path);
    assert.equal(reply.status, 404, `${path}: ${reply.text}`);
  }
});

test('the list has the sums and the executions, newest first, in pages', async () => {
  const id = await runs('true', { max_workers: 4 });
  const sent: string[] = [];
  for (let count = 0; count < 5; count += 1) sent.unshift(await owner.send(id));
  for (const run of sent) await owner.ended(id, run);
  const list = async (query: string) => owner.call('GET', `/${id}/executions`, { query });
  const all = (await list('')).json().result;
  const self = `${scene.service.url}/actors/v2/${id}/executions`;
  assert.deepEqual(Object.keys(all), [
    'actorId',
    'apiServer',
    'owner',
    'totalExecutions',
    'totalCpu',
    'totalIo',
    'totalRuntime',
    'executions',
    '_links',
  ]);
  assert.equal(all.totalExecutions, 5);
  assert.deepEqual(all._links, { owner: `${scene.service.url}/profiles/v2/owner`, self });
  const ids = (result: typeof all) => result.executions.map((run: { id: string }) => run.id);
  assert.deepEqual(ids(all), sent);
  assert.deepEqual(Object.keys(all.executions[0]), [
    'id',
    'status',
    'exitCode',
    'executor',
    'messageReceivedTime',
    'startTime',
    'finishTime',
  ]);
  assert.deepEqual(ids((await list('?limit=2&offset=1')).json().result), sent.slice(1, 3));
  assert.deepEqual(ids((await list('?offset=5')).json().result), []);
  const paged: string[] = [];
  let next: string | undefined = `${self}?limit=2`;
  while (next !== undefined) {
    const page = await list(new URL(next).search);
    paged.push(...ids(page.json().result));
    next = page.json().result._links.next;
    assert.equal(page.headers.get('link'), next === undefined ? null : `<${next}>; rel="next"`);
  }
  assert.deepEqual(paged, sent);
  for (const [query, field] of [
    ['?cursor=x', 'cursor'],
    ['?cursor=1&offset=1', 'offset'],
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?offset=-1', 'offset'],
  ] as const) {
    const reply = await list(query);
    assert.equal(reply.status, 400);
    assert.ok(reply.json().message.startsWith(`${field}: `), reply.text);
  }
});

test('the records of a deleted reactor stay readable for its owner, and its logs go', async () => {
  const id = await runs('echo gone soon');
  const { id: run, record } = await owner.runOnce(id);
  assert.equal((await owner.call('DELETE', `/${id}`)).status, 200);
  assert.deepEqual(await owner.record(id, run), record);
  const list = (await owner.call('GET', `/${id}/executions`)).json().result;
  assert.deepEqual([list.totalExecutions, list.totalCpu], [1, record.cpu]);
  assert.equal((await owner.call('GET', `/${id}/executions/${run}/message`)).text, 'hello');
  await until('its log to be gone', async () => (await owner.log(id, run)) === '');
  assert.equal((await stranger.call('GET', `/${id}/executions/${run}`)).status, 404);
  assert.equal((await stranger.call('GET', `/${id}/executions`)).status, 404);
});
