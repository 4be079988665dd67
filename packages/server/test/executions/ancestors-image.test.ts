import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { makePythonImage } from '../harness/python-image.ts';
import type { RunImage } from '../harness/run-image.ts';
import { until } from '../harness/until.ts';

/**
 * An image that was written for the ancestor runs as it is: it reads its variables under their prefix, its message from a
 * variable or from a file, whatever the size, and sends what it made of it to the socket.
 */

let scene: Scene;
let image: RunImage;
let reactor: string;
const mib = 1024 * 1024;

/** The way of the ancestor's own helper library. */
const program = `
import os, ast, json, hashlib, socket
def get_context():
    context = {
        'raw_message': os.environ.get('MSG'),
        'content_type': os.environ.get('_abaco_Content_Type'),
        'execution_id': os.environ.get('_abaco_execution_id'),
        'username': os.environ.get('_abaco_username'),
        'state': os.environ.get('_abaco_actor_state'),
        'actor_id': os.environ.get('_abaco_actor_id'),
        'actor_dbid': os.environ.get('_abaco_actor_dbid'),
    }
    try: context['message_dict'] = json.loads(context['raw_message'])
    except Exception: context['message_dict'] = {}
    return context
def get_binary_message():
    fd = os.open('/_abaco_binary_data', os.O_RDONLY | os.O_NONBLOCK)
    msg = b''
    parts = []
    while True:
        frame = os.read(fd, 1 << 20)
        if not frame: break
        parts.append(frame)
    os.close(fd)
    return b''.join(parts)
def send_bytes_result(data):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.connect('/_abaco_results.sock')
    sock.send(data)
    sock.close()
context = get_context()
if context['raw_message'] is None:
    data = get_binary_message()
    send_bytes_result(hashlib.sha256(data).hexdigest().encode())
    send_bytes_result(data[:131072])
else:
    send_bytes_result(json.dumps(context).encode())
`;

before(async () => {
  image = await makePythonImage();
  scene = await openScene({
    environment: { REACTORD_SECOND_PREFIX: '_abaco_', REACTORD_MESSAGE_MEMORY: '8m' },
  });
  reactor = await scene.admin.register({
    image: image.reference,
    default_environment: { RUN: program },
  });
});

after(async () => {
  await scene?.dispose();
  await image?.remove();
});

async function results(executionId: string, of = reactor): Promise<Buffer[]> {
  const record = await scene.admin.ended(of, executionId, 120_000);
  assert.equal(record.exitCode, 0, await scene.admin.log(of, executionId));
  const found: Buffer[] = [];
  for (;;) {
    const reply = await fetch(
      `${scene.service.url}/actors/v2/${of}/executions/${executionId}/results`,
      { headers: { authorization: `Bearer ${scene.admin.token}` } },
    );
    const body = Buffer.from(await reply.arrayBuffer());
    if (body.length === 0) return found;
    found.push(body);
  }
}

const peakMemory = (): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${scene.service.pid}/status`, 'utf8'))?.[1]) /
  1024;

test('it finds its context in the variables, and JSON as JSON', async () => {
  const reply = await scene.admin.post(reactor, {
    body: '{"factor": 2}',
    type: 'application/json',
  });
  const { executionId } = reply.json().result;
  const [context] = await results(executionId);
  assert.deepEqual(JSON.parse(String(context)), {
    raw_message: '{"factor": 2}',
    content_type: 'application/json',
    execution_id: executionId,
    username: 'admin',
    state: '{}',
    actor_id: reactor,
    actor_dbid: `LOCAL_${reactor}`,
    message_dict: { factor: 2 },
  });
});

test('bytes of a few and of 63 MiB arrive intact, with bounded memory, and results of 128 KiB come back', async () => {
  for (const size of [1, 200_000, 63 * mib]) {
    const bytes = randomBytes(size);
    const reply = await scene.admin.post(reactor, {
      body: bytes,
      type: 'application/octet-stream',
    });
    assert.equal(reply.status, 201, reply.text);
    const [digest, head] = await results(reply.json().result.executionId);
    assert.equal(String(digest), createHash('sha256').update(bytes).digest('hex'));
    assert.deepEqual(head, bytes.subarray(0, 131_072));
  }
  assert.ok(peakMemory() < 800, `${peakMemory()} MiB`);
});

test('large messages that arrive together do not fill the memory: some are asked to come again', async () => {
  const bytes = Buffer.alloc(5 * mib);
  const send = () =>
    scene.admin.post(reactor, { body: bytes, type: 'application/octet-stream' }).then(
      ({ status }) => status,
      // The connection of a refused one is closed while it still sends.
      () => 503,
    );
  const statuses = await Promise.all(Array.from({ length: 8 }, send));
  assert.ok(statuses.includes(201));
  assert.ok(statuses.includes(503));
  assert.deepEqual(
    statuses.filter((status) => status !== 201 && status !== 503),
    [],
  );
  assert.equal((await scene.admin.call('DELETE', `/${reactor}/messages`)).status, 200);
  await until('room again', async () => (await send()) === 201);
  await scene.admin.call('DELETE', `/${reactor}/messages`);
});

/** Sends so much of a body and waits for the reply to it. */
function begin(headers: Record<string, string | number>, sent: number) {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const url = new URL(`${scene.service.url}/actors/v2/${reactor}/messages`);
  const posting = request(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.admin.token}`,
      'content-type': 'application/octet-stream',
      ...headers,
    },
  });
  posting.once('response', (reply) => {
    resolve(reply.statusCode ?? 0);
    posting.destroy();
  });
  posting.once('error', reject);
  for (let left = sent; left > 0; left -= mib) posting.write(Buffer.alloc(Math.min(left, mib)));
  posting.flushHeaders();
  return promise;
}

test('several large messages at once all arrive, one after the other in memory', async () => {
  const wide = await scene.admin.register({
    image: image.reference,
    default_environment: { RUN: program },
    max_workers: 4,
  });
  const bytes = randomBytes(7 * mib);
  const wanted = createHash('sha256').update(bytes).digest('hex');
  const post = () => scene.admin.post(wide, { body: bytes, type: 'application/octet-stream' });
  const posted: string[] = [];
  for (let index = 0; index < 4; index += 1) posted.push((await post()).json().result.executionId);
  for (const executionId of posted)
    assert.equal(String((await results(executionId, wide))[0]), wanted);
});

test('65 MiB are refused with 413: by their length before they are sent, otherwise at the limit', async () => {
  assert.equal(await begin({ 'content-length': 65 * mib }, 0), 413);
  assert.equal(await begin({ 'transfer-encoding': 'chunked' }, 64 * mib + 1), 413);
});
