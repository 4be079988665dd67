import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Posted, type Scene } from '../harness/execution-scene.ts';

/** Keys, times, batches and events at the inbox. */

let scene: Scene;
let reactor: string;

before(async () => {
  scene = await openScene({
    environment: {
      REACTORD_BATCH_LIMIT: '5',
      REACTORD_LONGEST_DELAY: '1h',
      REACTORD_SECOND_PREFIX: '_abaco_',
    },
  });
  // It waits for an image that is not to be had, so that nothing runs while messages are looked at.
  reactor = await scene.admin.registerOnly({ image: 'localhost:1/no/such:image' });
});

after(() => scene.dispose());

const json = (body: unknown, more: Posted = {}): Posted => ({
  body: JSON.stringify(body),
  type: 'application/json',
  ...more,
});
const withKey = (key: string): Posted => ({ headers: { 'idempotency-key': key } });

async function inbox(id = reactor) {
  return (await scene.admin.call('GET', `/${id}/messages`)).json().result;
}

const message = (id: string) =>
  scene.admin.call('GET', `/${reactor}/executions/${id}/message`).then(({ text }) => text);

async function refused(posted: Posted, status: number, words: RegExp) {
  const before = await inbox();
  const reply = await scene.admin.post(reactor, posted);
  assert.equal(reply.status, status, reply.text);
  assert.match(reply.json().message, words);
  assert.deepEqual(await inbox(), before);
}

test('a repeated key gets the first reply, at once, later and after a restart, and makes nothing new', async () => {
  const { admin } = scene;
  const before = (await inbox()).messages;
  const posted = json({ order: 7 }, withKey('order-7'));
  const replies = await Promise.all(Array.from({ length: 8 }, () => admin.post(reactor, posted)));
  const [first, ...others] = replies.map((reply) => reply.json().result);
  assert.deepEqual(first.msg, { order: 7 });
  for (const other of others) assert.deepEqual(other, first);
  const fresh = replies.filter(({ headers }) => headers.get('idempotency-replayed') === null);
  assert.equal(fresh.length, 1);
  await scene.restart('SIGKILL');
  const again = await admin.post(reactor, posted);
  assert.equal(again.status, 201);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.json().result.executionId, first.executionId);
  assert.equal((await inbox()).messages, before + 1);
  const another = await scene.admin.registerOnly({ image: 'localhost:1/no/such:image' });
  assert.notEqual((await admin.post(another, posted)).json().result.executionId, first.executionId);
});

test('a key with another body, type or query is refused, and so is what is no key', async () => {
  const { admin } = scene;
  assert.equal((await admin.post(reactor, json([1], withKey('a-key')))).status, 201);
  await refused(json([2], withKey('a-key')), 422, /a-key was used with another request/);
  await refused({ ...json([1], withKey('a-key')), type: 'text/plain' }, 422, /another request/);
  await refused({ ...json([1], withKey('a-key')), query: '?A=1' }, 422, /another request/);
  for (const key of ['', ' ', 'with space', 'x'.repeat(256), 'é'])
    await refused(json([1], withKey(key)), 400, /Idempotency-Key: takes 1 to 255 visible/);
  const longest = await admin.post(reactor, json([1], withKey('~'.repeat(255))));
  assert.equal(longest.status, 201, longest.text);
});

test('a delayed message waits apart, is purged too, and is not held up by a restart', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: { RUN: 'echo $MSG' },
  });
  const late = await admin.send(id, 'late', { query: '?delay=3600' });
  const soon = await admin.send(id, 'soon', { query: '?delay=2' });
  const counted = await inbox(id);
  assert.ok(counted.messages === 0 && counted.delayed === 2, JSON.stringify(counted));
  const { record } = await admin.runOnce(id, 'now');
  assert.equal(record.status, 'COMPLETE');
  await scene.restart('SIGKILL');
  const ran = await admin.ended(id, soon);
  const waited = Date.parse(ran.startTime) - Date.parse(ran.messageReceivedTime);
  assert.ok(waited >= 2000, `it ran after ${waited} ms`);
  assert.equal((await admin.record(id, late)).status, 'SUBMITTED');
  assert.equal((await admin.call('DELETE', `/${id}/messages`)).json().result.dropped, 1);
  assert.match((await admin.record(id, late)).statusMessage, /admin purged the inbox/);
  assert.equal((await inbox(id)).delayed, 0);
});

test('a delay that is none is refused by name', async () => {
  for (const delay of ['-1', '1.5', 'soon', '', '3601', '9'.repeat(40), '1&delay=2'])
    await refused(
      { ...json(1), query: `?delay=${delay}` },
      400,
      /delay: takes a whole number of seconds from 0 to 3600/,
    );
  assert.equal((await scene.admin.post(reactor, { ...json(1), query: '?delay=0' })).status, 201);
});

test('a reactor with delayed messages can be deleted', async () => {
  const { admin } = scene;
  const id = await admin.registerOnly({ image: 'localhost:1/no/such:image' });
  const late = await admin.send(id, 'late', { query: '?delay=3600' });
  assert.equal((await admin.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await admin.record(id, late)).status, 'ERROR');
});

const batch = (...lines: string[]): Posted => ({
  body: lines.join('\n'),
  type: 'application/x-ndjson',
});

test('a batch is accepted as a whole, one message a line, in order', async () => {
  const { admin } = scene;
  const lines = ['{"a": 1}', '', '{"message":"raw text"}\r', '[1,  2]', '"text"', ''];
  const before = (await inbox()).messages;
  const reply = await admin.post(reactor, {
    ...batch(...lines),
    headers: { 'idempotency-key': 'b' },
  });
  assert.equal(reply.status, 201, reply.text);
  const { executionIds } = reply.json().result;
  assert.deepEqual(await Promise.all(executionIds.map(message)), [
    '{"a": 1}',
    'raw text',
    '[1,  2]',
    '"text"',
  ]);
  const again = await admin.post(reactor, {
    ...batch(...lines),
    headers: { 'idempotency-key': 'b' },
  });
  assert.deepEqual(again.json().result.executionIds, executionIds);
  assert.equal((await inbox()).messages, before + 4);
  const listed = (await admin.call('GET', `/${reactor}/executions`, { query: '?limit=4' })).json();
  assert.deepEqual(
    listed.result.executions.map(({ id }: { id: string }) => id).reverse(),
    executionIds,
  );
});

test('a batch with one bad line is refused as a whole, by the number of the line', async () => {
  await refused(batch('1', '2', '{"a":', '4'), 400, /^Line 3: The body is not valid JSON/);
  await refused(batch('1', '{"message":""}'), 400, /^Line 2: message: is empty/);
  await refused(batch('', ' ', ''), 400, /is empty/);
  await refused(batch('1', '2', '3', '4', '5', '6'), 400, /has more than 5 messages/);
  await refused(
    { body: Buffer.from([0xff, 0x0a]), type: 'application/x-ndjson' },
    400,
    /not valid UTF-8/,
  );
  await refused({ ...batch('1'), query: '?message=x' }, 400, /message: stands in the address/);
});

const event = {
  specversion: '1.0',
  id: 'A-1',
  source: '/orders',
  type: 'org.example.created',
  comexampleext: 7,
};

test('an event is delivered as its data, with its attributes as variables', async () => {
  const { admin, image } = scene;
  const id = await admin.register({
    image: image.reference,
    default_environment: {
      RUN: 'echo "$_svc_Content_Type|$MSG|$_svc_ce_id|$_svc_ce_source|$_svc_ce_type|$_svc_ce_subject|$_svc_ce_comexampleext|$_abaco_ce_id"',
    },
  });
  const structured = await admin.runOnce(id, '', {
    body: JSON.stringify({ ...event, subject: 'ü 1', data: { message: 'kept' } }),
    type: 'application/cloudevents+json; charset=utf-8',
  });
  assert.equal(
    structured.log,
    'application/json|{"message":"kept"}|A-1|/orders|org.example.created|ü 1|7|A-1\n',
  );
  const binary = await admin.runOnce(id, '', {
    body: 'plain data',
    type: 'text/plain',
    headers: {
      'ce-specversion': '1.0',
      'ce-id': 'B%20%C3%BC',
      'ce-source': '/orders',
      'ce-type': 't',
    },
  });
  assert.equal(binary.log, 'str|plain data|B ü|/orders|t|||B ü\n');
});

test('events in a batch, with bytes, text or nothing as data', async () => {
  const { admin } = scene;
  const reply = await admin.post(reactor, {
    body: JSON.stringify([
      { ...event, data_base64: 'AAH/' },
      { ...event, datacontenttype: 'text/xml', data: '<a/>' },
      { ...event, data: 'a JSON string' },
      event,
      { ...event, datacontenttype: 'application/json', data_base64: 'eyJhIjoxfQ==' },
    ]),
    type: 'application/cloudevents-batch+json',
  });
  assert.equal(reply.status, 201, reply.text);
  const { executionIds } = reply.json().result;
  const bodies = await Promise.all(executionIds.map(message));
  assert.deepEqual(bodies.slice(1), ['<a/>', '"a JSON string"', '', '{"a":1}']);
});

test('what is no event is refused by the name of the attribute', async () => {
  const structured = (given: unknown): Posted => ({
    body: JSON.stringify(given),
    type: 'application/cloudevents+json',
  });
  for (const name of ['id', 'source', 'type', 'specversion'])
    await refused(
      structured({ ...event, [name]: undefined }),
      400,
      new RegExp(`^${name}: is required`),
    );
  await refused(structured({ ...event, id: '' }), 400, /^id: is required/);
  await refused(structured({ ...event, specversion: '0.3' }), 400, /specversion: takes 1.0/);
  await refused(structured({ ...event, Bad_Name: 'x' }), 400, /Bad_Name: is not the name/);
  await refused(structured({ ...event, ext: {} }), 400, /ext: takes a text/);
  await refused(structured({ ...event, ext: 'a\u0000b' }), 400, /ext: has a control character/);
  await refused(structured({ ...event, time: 'now' }), 400, /time: takes a time/);
  await refused(structured({ ...event, data: 1, data_base64: 'AA==' }), 400, /cannot go with data/);
  await refused(structured({ ...event, data_base64: '%%' }), 400, /takes bytes in base64/);
  await refused(structured([event]), 400, /takes a CloudEvent/);
  await refused({ body: '{', type: 'application/cloudevents+json' }, 400, /not valid JSON/);
  await refused({ body: '[]', type: 'application/cloudevents-batch+json' }, 400, /no events/);
  const second = {
    body: JSON.stringify([event, { ...event, id: 1.5 }]),
    type: 'application/cloudevents-batch+json',
  };
  await refused(second, 400, /^event 2: id/);
  await refused(
    { ...json(1), headers: { 'ce-specversion': '1.0', 'ce-id': 'x', 'ce-type': 't' } },
    400,
    /^ce-source: is required/,
  );
});

test('no message and no query sets the variables of events', async () => {
  await refused({ ...json(1), query: '?_svc_ce_id=x' }, 400, /_svc_ce_id: is reserved/);
});
