import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';

/** What the service takes as a message, and what the container gets of it. */

let scene: Scene;
/** Writes each variable that the tests look at on a line of its own, and the message's file where there is one. */
let reactor: string;

const program = [
  'echo "MSG=[$MSG]"',
  'echo "given=${MSG+yes}"',
  'echo "type=$_svc_Content_Type"',
  'echo "LEVEL=$LEVEL"',
  'echo "EXTRA=$EXTRA"',
  'if [ -f /_svc_binary_data ]; then md5sum /_svc_binary_data; echo "file=$_svc_message_file size=$(wc -c < /_svc_binary_data)"; fi',
].join('\n');

before(async () => {
  scene = await openScene({ environment: { REACTORD_MESSAGE_LIMIT: '1m' } });
  reactor = await scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program, LEVEL: '3', KEPT: 'as it was' },
  });
});

after(() => scene.dispose());

async function outcome(posted: Parameters<Scene['admin']['post']>[1]) {
  const reply = await scene.admin.post(reactor, posted);
  assert.equal(reply.status, 201, reply.text);
  const { executionId, msg } = reply.json().result;
  const record = await scene.admin.ended(reactor, executionId);
  assert.equal(record.exitCode, 0, record.statusMessage);
  return { msg, log: await scene.admin.log(reactor, executionId) };
}

const form = 'application/x-www-form-urlencoded';

test('the reply names the execution and where everything is, and comes as 201', async () => {
  const { admin, service } = scene;
  const reply = await admin.post(reactor, { body: 'message=hello', type: form });
  assert.equal(reply.status, 201);
  const { status, result } = reply.json();
  assert.equal(status, 'success');
  const self = `${service.url}/actors/v2/${reactor}/executions/${result.executionId}`;
  assert.deepEqual(result, {
    executionId: result.executionId,
    msg: 'hello',
    _links: {
      self,
      owner: `${service.url}/profiles/v2/admin`,
      messages: `${service.url}/actors/v2/${reactor}/messages`,
    },
  });
  assert.match(result.executionId, /^[0-9A-Za-z]{14}$/);
  assert.equal(reply.headers.get('location'), self);
});

test('a form field message is a raw string, as posted', async () => {
  const text = 'a=1 & "b" $HOME `x` ü\nsecond line ';
  const body = new URLSearchParams({ message: text }).toString();
  const { msg, log } = await outcome({ body, type: form });
  assert.equal(msg, text);
  assert.ok(log.startsWith(`MSG=[${text}]\n`), log);
  assert.match(log, /^type=str$/m);
});

test('a key message of a JSON object is a raw string', async () => {
  const body = JSON.stringify({ message: 'from JSON', other: 1 });
  const { msg, log } = await outcome({ body, type: 'application/json' });
  assert.equal(msg, 'from JSON');
  assert.match(log, /^MSG=\[from JSON\]\n/);
  assert.match(log, /^type=str$/m);
});

test('a query parameter message is a raw string', async () => {
  const { msg, log } = await outcome({ query: '?message=from%20the%20query' });
  assert.equal(msg, 'from the query');
  assert.match(log, /^MSG=\[from the query\]\n/);
});

test('a field of a multipart form is a raw string', async () => {
  const body = new FormData();
  body.append('message', 'in parts');
  assert.equal((await outcome({ body })).msg, 'in parts');
});

test('JSON is delivered as the text that was sent', async () => {
  const body = '{ "b": 1.0, "a":[true,null] ,"ü":"\\u00fc" }';
  const { msg, log } = await outcome({ body, type: 'application/json; charset=utf-8' });
  assert.deepEqual(msg, { b: 1, a: [true, null], ü: 'ü' });
  assert.ok(log.startsWith(`MSG=[${body}]\n`), log);
  assert.match(log, /^type=application\/json$/m);
});

test('JSON need not be an object', async () => {
  assert.equal((await outcome({ body: '[]', type: 'application/json' })).msg.length, 0);
  assert.match((await outcome({ body: 'null', type: 'application/json' })).log, /^MSG=\[null\]/);
});

test('bytes are delivered as a file, and the reply leaves them out', async () => {
  const bytes = Buffer.from([0, 255, 10, 13, 128, 0, 7]);
  const { msg, log } = await outcome({ body: bytes, type: 'application/octet-stream' });
  assert.equal(msg, 'binary - omitted');
  assert.match(log, /^given=$/m);
  assert.match(log, /^type=application\/octet-stream$/m);
  assert.match(log, /^file=\/_svc_binary_data size=7$/m);
});

test('other text is a raw string, in its own charset', async () => {
  const body = Buffer.from('caf\xe9', 'latin1');
  const { msg } = await outcome({ body, type: 'text/plain; charset=iso-8859-1' });
  assert.equal(msg, 'café');
  assert.equal((await outcome({ body: '<a/>', type: 'application/xml' })).msg, '<a/>');
});

test('a message is a variable up to 128 KiB with its name, and a file from there on', async () => {
  const longest = 128 * 1024 - 'MSG='.length - 1;
  const asVariable = await outcome({ body: 'ü'.repeat(longest / 2 - 1), type: 'text/plain' });
  assert.match(asVariable.log, /^given=yes$/m);
  const exactly = await outcome({ body: 'x'.repeat(longest), type: 'text/plain' });
  assert.match(exactly.log, /^given=yes$/m);
  const over = await outcome({ body: 'x'.repeat(longest + 1), type: 'text/plain' });
  assert.match(over.log, /^given=$/m);
  assert.match(over.log, /^type=str$/m);
  assert.match(over.log, new RegExp(`^file=/_svc_binary_data size=${longest + 1}$`, 'm'));
});

test('text with a NUL character, which ends a variable, is a file', async () => {
  const { log } = await outcome({ body: 'a\0b', type: 'text/plain' });
  assert.match(log, /^given=$/m);
  assert.match(log, /size=3$/m);
});

test('a query parameter replaces a default for this execution alone, and others are added', async () => {
  const changed = await outcome({ body: 'message=x', type: form, query: '?LEVEL=9&EXTRA=more' });
  assert.match(changed.log, /^LEVEL=9$/m);
  assert.match(changed.log, /^EXTRA=more$/m);
  const next = await outcome({ body: 'message=x', type: form });
  assert.match(next.log, /^LEVEL=3$/m);
  assert.match(next.log, /^EXTRA=$/m);
});

test("the operation's own parameters are never variables", async () => {
  const reply = await scene.admin.post(reactor, {
    body: 'message=x',
    type: form,
    query: '?naked=true&pretty=true&x-nonce=n',
  });
  assert.equal(reply.status, 201);
  assert.match(reply.text, /^\{\n {2}"executionId"/);
});

test('both spellings of the area are one inbox', async () => {
  const posted = { body: 'message=x', type: form, area: '/reactors/v2' };
  assert.equal((await scene.admin.post(reactor, posted)).status, 201);
});

const refused: readonly [string, Parameters<Scene['admin']['post']>[1], number, RegExp][] = [
  ['an empty body', {}, 400, /empty/],
  ['an empty form', { body: '', type: form }, 400, /empty/],
  ['a form without message', { body: 'a=1', type: form }, 400, /message: is required/],
  ['an empty message', { body: 'message=', type: form }, 400, /message: is empty/],
  ['a message twice', { body: 'message=a&message=b', type: form }, 400, /more than once/],
  ['broken percent-encoding', { body: 'message=%zz', type: form }, 400, /percent-encoding/],
  ['broken JSON', { body: '{"a":', type: 'application/json' }, 400, /not valid JSON/],
  ['JSON of nothing', { body: '  ', type: 'application/json' }, 400, /empty/],
  [
    'JSON nested too deeply to be written again',
    { body: '['.repeat(200_000) + ']'.repeat(200_000), type: 'application/json' },
    400,
    /nested too deeply/,
  ],
  ['text that is not UTF-8', { body: Buffer.from([0xff]), type: 'text/plain' }, 400, /not valid/],
  ['an unknown charset', { body: 'x', type: 'text/plain; charset=none' }, 415, /charset=none/],
  ['a picture', { body: 'x', type: 'image/png' }, 415, /application\/octet-stream/],
  [
    'a compressed body',
    { body: 'x', type: 'text/plain', headers: { 'content-encoding': 'gzip' } },
    415,
    /not compressed/,
  ],
  [
    'a message over the limit',
    { body: 'x'.repeat(1024 * 1024 + 1), type: 'text/plain' },
    413,
    /1048576/,
  ],
  [
    'a message in body and query',
    { body: 'x', type: 'text/plain', query: '?message=y' },
    400,
    /address/,
  ],
  ...['_svc_access_token', 'MSG', 'PATH', 'LD_PRELOAD'].map(
    (name): [string, Parameters<Scene['admin']['post']>[1], number, RegExp] => [
      `the variable ${name}`,
      { body: 'message=x', type: form, query: `?${name}=1` },
      400,
      new RegExp(`${name}: is reserved`),
    ],
  ),
  [
    'a name of no variable',
    { body: 'message=x', type: form, query: '?1x=1' },
    400,
    /1x: is not a name/,
  ],
  [
    'a variable twice',
    { body: 'message=x', type: form, query: '?A=1&A=2' },
    400,
    /A: .*more than once/,
  ],
  ['a variable with NUL', { body: 'message=x', type: form, query: '?A=%00' }, 400, /A: .*NUL/],
];

for (const [what, posted, status, words] of refused) {
  test(`${what} is refused with ${status}, and nothing is accepted`, async () => {
    const { admin } = scene;
    const before = (await admin.call('GET', `/${reactor}/executions`)).json().result;
    const reply = await admin.post(reactor, posted);
    assert.equal(reply.status, status, reply.text.slice(0, 300));
    assert.match(reply.json().message, words);
    assert.equal(reply.json().status, 'error');
    const after = (await admin.call('GET', `/${reactor}/executions`)).json().result;
    assert.equal(after.totalExecutions, before.totalExecutions);
  });
}

test("to a stranger another user's inbox does not exist", async () => {
  const stranger = await scene.user('stranger');
  for (const method of ['POST', 'GET', 'DELETE']) {
    const reply = await stranger.call(method, `/${reactor}/messages`, {
      ...(method === 'POST' && { body: 'message=x', type: form }),
    });
    assert.equal(reply.status, 404, reply.text);
  }
  assert.equal((await scene.admin.post('nosuchreactor1', { body: 'x' })).status, 404);
});
