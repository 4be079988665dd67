import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { makePythonImage } from '../harness/python-image.ts';
import type { RunImage } from '../harness/run-image.ts';
import { withSpares } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** What executions give back, by the socket and over HTTP, and how it is read. */

let scene: Scene;
let image: RunImage;
const kib = 1024;

before(async () => {
  image = await makePythonImage();
  scene = await openScene({
    environment: { ...withSpares, REACTORD_RESULTS_LIMIT: '1m', REACTORD_RESULT_LIMIT: '256k' },
  });
});

after(async () => {
  await scene?.dispose();
  await image?.remove();
});

/** `send(bytes)` and `post(bytes)` as a program in a container would have them. */
const helpers = `
import os, socket, hashlib, time, urllib.request, urllib.error
def send(data):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.connect(os.environ['_svc_results_socket'])
    s.send(data)
    s.close()
def call(method, path, data=None, token=None):
    r = urllib.request.Request(os.environ['_svc_api_server'] + '/actors/v2/' + os.environ['_svc_actor_id'] + path,
        data=data, method=method, headers={'Authorization': 'Bearer ' + (token or os.environ['_svc_access_token']),
        'Content-Type': 'application/octet-stream'})
    try:
        with urllib.request.urlopen(r) as reply: return reply.status
    except urllib.error.HTTPError as error: return error.code
def post(data): return call('POST', '/executions/' + os.environ['_svc_execution_id'] + '/results', data)
`;

const register = (program: string, fields: Readonly<Record<string, unknown>> = {}) =>
  scene.admin.register({
    image: image.reference,
    default_environment: { RUN: helpers + program },
    ...fields,
  });

interface Taken {
  readonly status: number;
  readonly body: Buffer;
  readonly headers: Headers;
}

async function take(path: string, sender: Sender = scene.admin): Promise<Taken> {
  const reply = await fetch(`${scene.service.url}/actors/v2${path}`, {
    headers: { authorization: `Bearer ${sender.token}` },
  });
  const body = Buffer.from(await reply.arrayBuffer());
  return { status: reply.status, body, headers: reply.headers };
}

/** The ancestor's reading loop: until an empty body. */
async function takeAll(reactor: string, execution: string): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for (;;) {
    const { status, body } = await take(`/${reactor}/executions/${execution}/results`);
    assert.equal(status, 200, body.toString());
    if (body.length === 0) return all;
    all.push(body);
  }
}

const complete = async (reactor: string, message?: string) => {
  const { id, record, log } = await scene.admin.runOnce(reactor, message);
  assert.equal(record.exitCode, 0, log);
  return { id, log };
};

test('datagrams of any bytes and up to 128 KiB are results, in order, all there at COMPLETE', async () => {
  const reactor = await register(`
send(bytes(range(256)))
send(b'')
send(b'x' * (128 * 1024))
for i in range(200): send(b'%d' % i)
print(os.environ['_svc_results_socket'])
`);
  const { id, log } = await complete(reactor);
  assert.equal(log, '/_svc_results.sock\n');
  const all = await takeAll(reactor, id);
  assert.equal(all.length, 202);
  assert.deepEqual(all[0], Buffer.from([...Array(256).keys()]));
  assert.equal(all[1]?.toString(), 'x'.repeat(128 * kib));
  assert.deepEqual(all.slice(2).map(String), [...Array(200).keys()].map(String));
});

test('what is sent from a spare container is there too, and nothing of it in the next', async () => {
  const program = `send(os.environ['MSG'].encode()); print(post(b'by its token'))`;
  const reactor = await register(program, { warm: 1 });
  for (const message of ['one', 'two']) {
    await scene.admin.call('POST', `/${reactor}/workers`, {
      body: JSON.stringify({ num: 1 }),
      type: 'application/json',
    });
    await until('a spare to be ready', async () => {
      const { result } = (await scene.admin.call('GET', `/${reactor}/workers`)).json();
      return result[0].status === 'READY' && result[0].cid !== null;
    });
    const { id, log } = await complete(reactor, message);
    assert.equal(log, '201\n');
    assert.deepEqual((await takeAll(reactor, id)).map(String).sort(), ['by its token', message]);
  }
});

test('results are read while the execution runs', async () => {
  const reactor = await register(`
send(b'early')
while not os.path.exists('/tmp/never'): time.sleep(0.1)
`);
  const id = await scene.admin.send(reactor);
  const { body, headers } = await until('the first result', async () => {
    const taken = await take(`/${reactor}/executions/${id}/results`);
    return taken.body.length > 0 && taken;
  });
  assert.equal(body.toString(), 'early');
  assert.equal(headers.get('content-type'), 'application/octet-stream');
  assert.equal(headers.get('x-result-index'), '1');
  assert.equal(headers.get('x-execution-id'), id);
  assert.equal((await scene.admin.record(reactor, id)).status, 'RUNNING');
  await scene.admin.call('DELETE', `/${reactor}/executions/${id}`);
  await scene.admin.ended(reactor, id);
});

test('results over HTTP need the token of the execution itself, and stand in one order with the others', async () => {
  const reactor = await register(`
send(b'first')
time.sleep(0.5)
print(post(b'second'), post(b''), post(b'y' * (256 * 1024 + 1)))
print(call('POST', '/executions/' + os.environ['MSG'] + '/results', b'forged'))
`);
  const other = await complete(await register('print(1)'));
  const { id, log } = await complete(reactor, other.id);
  assert.equal(log, '201 400 413\n404\n');
  assert.deepEqual((await takeAll(reactor, id)).map(String), ['first', 'second']);
  // Its owner, with another token, and a stranger.
  const path = `/${reactor}/executions/${id}/results`;
  assert.equal((await scene.admin.call('POST', path, { body: 'forged' })).status, 403);
  const stranger = await scene.user('stranger');
  assert.equal((await stranger.call('POST', path, { body: 'forged' })).status, 404);
  assert.equal((await take(path, stranger)).status, 404);
});

test('an execution of the same reactor cannot give results for another one', async () => {
  const reactor = await register(
    `
if os.environ['MSG'] == 'victim':
    while not os.path.exists('/tmp/never'): time.sleep(0.1)
print(call('POST', '/executions/' + os.environ['MSG'] + '/results', b'forged'))
`,
    { max_workers: 2 },
  );
  const victim = await scene.admin.send(reactor, 'victim');
  await scene.admin.running(reactor, victim);
  const { log } = await complete(reactor, victim);
  assert.equal(log, '403\n');
  assert.equal((await take(`/${reactor}/executions/${victim}/results`)).body.length, 0);
  await scene.admin.call('DELETE', `/${reactor}/executions/${victim}`);
  await scene.admin.ended(reactor, victim);
});

test('what many take at once, each gets once', async () => {
  const reactor = await register("for i in range(100): send(b'%d' % i)");
  const { id } = await complete(reactor);
  const readers = Array.from({ length: 8 }, () => takeAll(reactor, id));
  const got = (await Promise.all(readers)).flat().map(String);
  assert.equal(got.length, 100);
  assert.equal(new Set(got).size, 100);
});

test('keep reads without taking, one after the other', async () => {
  const reactor = await register("send(b'a'); send(b'b')");
  const { id } = await complete(reactor);
  const path = `/${reactor}/executions/${id}/results`;
  for (let again = 0; again < 2; again += 1)
    assert.equal((await take(`${path}?keep=true`)).body.toString(), 'a');
  const second = await take(`${path}?keep=true&after=1`);
  assert.equal(second.body.toString(), 'b');
  assert.equal(second.headers.get('x-result-index'), '2');
  assert.equal((await take(`${path}?keep=true&after=2`)).body.length, 0);
  assert.equal((await take(`${path}?after=1`)).status, 400);
  assert.deepEqual((await takeAll(reactor, id)).map(String), ['a', 'b']);
});

test("the reactor's results are those of the newest execution that gave any", async () => {
  const reactor = await register(`
if os.environ['MSG'] != 'silent': send(os.environ['MSG'].encode())
`);
  assert.equal((await take(`/${reactor}/results`)).body.length, 0);
  await complete(reactor, 'old');
  const newest = await complete(reactor, 'new');
  await complete(reactor, 'silent');
  const first = await take(`/${reactor}/results?keep=true`);
  assert.equal(first.body.toString(), 'new');
  assert.equal(first.headers.get('x-execution-id'), newest.id);
  assert.equal((await take(`/${reactor}/results`)).body.toString(), 'new');
  // What older ones have left does not come up again.
  assert.equal((await take(`/${reactor}/results`)).body.length, 0);
});

test('a container that sends without end fills nothing, and the next one of its reactor is not disturbed', async () => {
  const reactor = await register(`
if os.environ['MSG'] == 'flood':
    for i in range(400): send(b'z' * 100000)
elif os.environ['MSG'] == 'posted': print([post(b'z' * 200000) for i in range(7)])
else: send(b'tidy')
`);
  const flood = await complete(reactor, 'flood');
  const kept = await takeAll(reactor, flood.id);
  assert.equal(kept.length, 10);
  const posted = await complete(reactor, 'posted');
  assert.equal(posted.log, '[201, 201, 201, 201, 201, 413, 413]\n');
  const next = await complete(reactor, 'next');
  assert.deepEqual((await takeAll(reactor, next.id)).map(String), ['tidy']);
});

test('containers see the socket of their own and nothing beside it', async () => {
  const reactor = await register(`
for name in os.listdir('/'): print(name)
import stat
try:
    os.chmod('/_svc_results.sock', 0)
    print('changed')
except OSError: print('kept')
try:
    os.unlink('/_svc_results.sock')
    print('gone')
except OSError: print('kept')
`);
  const { log } = await complete(reactor);
  assert.match(log, /^_svc_results\.sock$/m);
  assert.doesNotMatch(log, /^(results|changed|gone)$/m);
});

test('what was sent while the service was away is there afterwards, once', async () => {
  const reactor = await register(`
for i in range(50):
    send(b'%d' % i)
    if i == 10:
        print('halfway', flush=True)
        while not os.path.exists('/tmp/never') and time.time() < float(os.environ['MSG']): time.sleep(0.05)
    time.sleep(0.01)
`);
  const id = await scene.admin.send(reactor, String(Date.now() / 1000 + 4));
  await scene.admin.running(reactor, id);
  await until('it to be halfway', async () =>
    (await scene.admin.log(reactor, id)).includes('halfway'),
  );
  await scene.restart('SIGKILL');
  const record = await scene.admin.ended(reactor, id);
  assert.equal(record.status, 'COMPLETE');
  const all = await takeAll(reactor, id);
  assert.deepEqual(all.map(String), [...Array(50).keys()].map(String));
});

test('results go with their reactor, and the folders of holders with the holders', async () => {
  const reactor = await register("send(b'x')");
  const { id } = await complete(reactor);
  const reply = await scene.admin.call('DELETE', `/${reactor}`);
  assert.equal(reply.status, 200, reply.text);
  await until('the result to go', async () => {
    const { body } = await take(`/${reactor}/executions/${id}/results?keep=true`);
    return body.length === 0;
  });
  const folder = join(scene.service.data, 'results');
  const before = readdirSync(folder);
  assert.ok(before.length > 0);
  await scene.restart('SIGTERM');
  await until('the folders to go', () => {
    const left = readdirSync(folder);
    return !before.some((name) => left.includes(name));
  });
});

test('a message of some megabytes arrives as it was', async () => {
  const reactor = await register(`
data = open(os.environ['_svc_message_file'], 'rb').read()
send(hashlib.sha256(data).digest())
`);
  const bytes = Buffer.alloc(3 * 1024 * kib, 'päckchen');
  const reply = await scene.admin.post(reactor, { body: bytes, type: 'application/octet-stream' });
  const { executionId } = reply.json().result;
  await scene.admin.ended(reactor, executionId);
  const [digest] = await takeAll(reactor, executionId);
  assert.deepEqual(digest, createHash('sha256').update(bytes).digest());
});
