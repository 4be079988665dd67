import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type EventStream, openEvents, type ServerEvent } from '../harness/event-stream.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** Logs as they come. */

let scene: Scene;

before(async () => {
  scene = await openScene({ environment: { REACTORD_LOG_LIMIT: '8m' } });
});

after(() => scene.dispose());

const runs = (program: string) =>
  scene.admin.register({ image: scene.image.reference, default_environment: { RUN: program } });

const follow = (
  reactorId: string,
  executionId: string,
  query = '?follow=true',
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> =>
  openEvents(`${scene.service.url}/actors/v2/${reactorId}/executions/${executionId}/logs${query}`, {
    authorization: `Bearer ${scene.admin.token}`,
    ...headers,
  });

const textOf = (events: readonly ServerEvent[]): string =>
  events.map(({ event, data }) => (event === 'log' ? data.text : '')).join('');

test('a stream that is opened before the execution starts has every line, and then its end', async () => {
  const id = await runs(
    'sleep 1; echo out; sleep 0.3; echo err >&2; sleep 0.3; printf rest; exit 3',
  );
  // The second waits for the first: a reactor runs one at a time.
  await scene.admin.send(id);
  const run = await scene.admin.send(id);
  const stream = await follow(id, run);
  assert.equal(stream.status, 200);
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal((await scene.admin.record(id, run)).status, 'SUBMITTED');
  const events = await stream.all();
  const logged = events.slice(0, -1);
  assert.deepEqual(
    logged.map(({ event, id: place, data }) => [event, place, data.stream, data.text]),
    [
      ['log', '4', 'stdout', 'out\n'],
      ['log', '8', 'stderr', 'err\n'],
      ['log', '12', 'stdout', 'rest'],
    ],
  );
  for (const { data } of logged)
    assert.match(data.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const last = events.at(-1);
  assert.equal(last?.event, 'end');
  assert.deepEqual(last?.data, { status: 'COMPLETE', exitCode: 3 });
  // Everything is stored before the end shows.
  assert.equal(await scene.admin.log(id, run), 'out\nerr\nrest');
});

test('a line shows within a tenth of a second after it was written', async () => {
  const id = await runs('i=0; while [ $i -lt 15 ]; do echo "line $i"; i=$((i+1)); sleep 0.2; done');
  const run = await scene.admin.send(id);
  const events = await (await follow(id, run)).all();
  const waits = events
    .filter(({ event }) => event === 'log')
    .map(({ data, arrivedAt }) => arrivedAt - Date.parse(data.time))
    .sort((a, b) => a - b);
  assert.equal(waits.length, 15);
  const median = waits[7] ?? 0;
  assert.ok(median < 100, `${median} ms`);
});

test('who loses the connection again and again gets every line once, in order', async () => {
  const id = await runs(
    'for i in $(seq 1 400); do echo "line $i"; [ $((i % 40)) = 0 ] && sleep 0.1; done',
  );
  const run = await scene.admin.send(id);
  const got: ServerEvent[] = [];
  let last: string | undefined;
  for (let connection = 0; got.at(-1)?.event !== 'end'; connection += 1) {
    const byHeader = connection % 2 === 0;
    const stream = await follow(
      id,
      run,
      byHeader || last === undefined ? '?follow=true' : `?follow=true&after=${last}`,
      byHeader && last !== undefined ? { 'last-event-id': last } : {},
    );
    let here = 0;
    for await (const event of stream.events()) {
      got.push(event);
      last = event.id ?? last;
      here += 1;
      if (here === 17) break;
    }
    stream.leave();
  }
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index + 1}\n`).join('');
  assert.equal(textOf(got), lines);
  const places = got.flatMap(({ id: place }) => (place === undefined ? [] : Number(place)));
  assert.deepEqual(
    places,
    [...new Set(places)].sort((a, b) => a - b),
  );
});

test('after the end there is the log and the end, by query, by Accept, in part', async () => {
  const id = await runs('echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three');
  const { id: run } = await scene.admin.runOnce(id);
  const accept = { accept: 'text/event-stream' };
  for (const [query, headers, text] of [
    ['?follow=true', {}, 'one\ntwo\nthree\n'],
    ['', accept, 'one\ntwo\nthree\n'],
    ['?follow=true&tail=2', {}, 'two\nthree\n'],
    ['?follow=true&tail=0', {}, ''],
    ['?follow=true&stream=stderr', {}, 'two\n'],
    ['?follow=true&stream=stdout&tail=1', {}, 'three\n'],
    ['?follow=true&after=4', {}, 'two\nthree\n'],
    ['?follow=true&tail=1', { 'last-event-id': '4' }, 'two\nthree\n'],
    ['?follow=true&after=99999', {}, ''],
  ] as const) {
    const events = await (await follow(id, run, query, headers)).all();
    assert.equal(textOf(events), text, query);
    assert.equal(events.at(-1)?.event, 'end', query);
  }
  const refused = await follow(id, run, '?follow=true', { 'last-event-id': 'x' });
  assert.equal(refused.status, 400);
  refused.leave();
});

test('an execution that never runs ends its stream too', async () => {
  const id = await runs('sleep 3');
  await scene.admin.send(id);
  const waiting = await scene.admin.send(id);
  const stream = await follow(id, waiting);
  const all = stream.all();
  await scene.admin.call('DELETE', `/${id}/messages`);
  assert.deepEqual(
    (await all).map(({ event, data }) => [event, data]),
    [['end', { status: 'ERROR', exitCode: null }]],
  );
});

test('a slow follower holds up nobody, and misses nothing', async () => {
  const id = await runs(`yes "${'a long line '.repeat(40)}" | head -c 9000000`);
  const run = await scene.admin.send(id);
  // It reads nothing for now; all it can have is what the sockets between hold.
  const slow = await follow(id, run);
  const quick = await Promise.all([follow(id, run), follow(id, run)]);
  const [first, second] = await Promise.all(quick.map((stream) => stream.all()));
  const log = await scene.admin.log(id, run);
  assert.ok(log.length > 8_000_000);
  for (const events of [first ?? [], second ?? [], await slow.all()]) {
    assert.ok(textOf(events) === log, 'all texts together are the log');
    assert.equal(events.at(-2)?.data.stream, 'notice');
  }
});

test('a stop ends the streams, and who followed goes on with the next service', async () => {
  const id = await runs('for i in $(seq 1 60); do echo "line $i"; sleep 0.1; done');
  const run = await scene.admin.send(id);
  const stream = await follow(id, run);
  const got: ServerEvent[] = [];
  const reading = (async () => {
    for await (const event of stream.events()) got.push(event);
  })();
  await until('some lines', () => got.length > 5);
  const start = Date.now();
  scene.service.signal('SIGTERM');
  assert.equal(await scene.service.ended, 0);
  assert.ok(Date.now() - start < 5000, `the stop took ${Date.now() - start} ms`);
  await reading;
  await scene.restart('SIGTERM');
  assert.notEqual(got.at(-1)?.event, 'end');
  const last = got.at(-1)?.id ?? '';
  got.push(...(await (await follow(id, run, '?follow=true', { 'last-event-id': last })).all()));
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join('');
  assert.equal(textOf(got), lines);
  assert.deepEqual(got.at(-1)?.data, { status: 'COMPLETE', exitCode: 0 });
});

test('after kill -9 the next service has every line once, and who followed goes on', async () => {
  const id = await runs('for i in $(seq 1 60); do echo "line $i"; sleep 0.1; done');
  const run = await scene.admin.send(id);
  const stream = await follow(id, run);
  const got: ServerEvent[] = [];
  const reading = assert.rejects(async () => {
    for await (const event of stream.events()) got.push(event);
  });
  await until('some lines', () => got.length > 5);
  await scene.restart('SIGKILL');
  await reading;
  const last = got.at(-1)?.id ?? '';
  got.push(...(await (await follow(id, run, '?follow=true', { 'last-event-id': last })).all()));
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join('');
  assert.equal(textOf(got), lines);
  assert.equal(await scene.admin.log(id, run), lines);
});

test('the stream ends with the permission, the token or the nonce that opened it', async () => {
  const id = await runs('while true; do echo tick; sleep 0.2; done');
  const run = await scene.admin.send(id);
  await scene.admin.running(id, run);
  const share = async (user: string, level: string) => {
    const body = JSON.stringify({ user, level });
    const sent = { body, type: 'application/json' };
    assert.equal((await scene.admin.call('POST', `/${id}/permissions`, sent)).status, 200);
  };
  const [ada, bob] = [await scene.user('ada'), await scene.user('bob')];
  await share('ada', 'READ');
  await share('bob', 'READ');
  const made = await scene.admin.call('POST', `/${id}/nonces`, {
    body: JSON.stringify({ level: 'READ', max_uses: 1 }),
    type: 'application/json',
  });
  const { id: nonce } = made.json().result;
  const path = `${scene.service.url}/actors/v2/${id}/executions/${run}/logs?follow=true`;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const streams = {
    ada: await openEvents(path, bearer(ada.token)),
    bob: await openEvents(path, bearer(bob.token)),
    nonce: await openEvents(`${path}&x-nonce=${nonce}`, {}),
    admin: await openEvents(path, bearer(scene.admin.token)),
  };
  const ended = new Set<string>();
  const heard = new Map<string, number>();
  for (const [who, stream] of Object.entries(streams))
    void (async () => {
      for await (const { event } of stream.events()) {
        assert.equal(event, 'log');
        heard.set(who, (heard.get(who) ?? 0) + 1);
      }
      ended.add(who);
    })().catch(() => {});
  const hears = (who: string, more: number) => {
    const upTo = (heard.get(who) ?? 0) + more;
    return until(`${who} to hear more`, () => (heard.get(who) ?? 0) >= upTo);
  };
  // Longer than it takes until somebody is asked again whether they may.
  for (const who of Object.keys(streams)) await hears(who, 10);
  assert.deepEqual([...ended], []);
  await share('ada', 'NONE');
  await until('ada to be shut out', () => ended.has('ada'));
  const gone = await scene.admin.call('DELETE', '/bob', { area: '/profiles/v2' });
  assert.ok(gone.status < 300, gone.text);
  await until('bob to be shut out', () => ended.has('bob'));
  await hears('nonce', 3);
  await scene.admin.call('DELETE', `/${id}/nonces/${nonce}`);
  await until('the nonce to be shut out', () => ended.has('nonce'));
  await hears('admin', 3);
  assert.deepEqual([...ended], ['ada', 'bob', 'nonce']);
  streams.admin.leave();
  await scene.admin.call('DELETE', `/${id}/executions/${run}`);
});
