import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { makePythonImage } from '../harness/python-image.ts';
import { openTestEngine, type RunImage } from '../harness/run-image.ts';
import { until } from '../harness/until.ts';

/** A message whose sender waits for the answer. */

let scene: Scene;
let python: RunImage;

before(async () => {
  python = await makePythonImage();
  scene = await openScene({
    environment: {
      REACTORD_SECOND_PREFIX: '_abaco_',
      REACTORD_WAIT_LIMIT: '30s',
      REACTORD_WAITING_REPLIES: '3',
    },
  });
});

after(async () => {
  await scene?.dispose();
  await python?.remove();
});

const register = (RUN: string) =>
  scene.admin.register({ image: scene.image.reference, default_environment: { RUN } });
const ask = (reactor: string, query: string, message = 'x') =>
  scene.admin.post(reactor, { body: message, type: 'text/plain', query });

test('without a result the answer is the log, with how it ended in the headers', async () => {
  const reactor = await register(
    'echo "got $MSG"; env | grep -i -e "^wait" -e "^_.*synchronous"; exit 3',
  );
  for (const query of ['?wait=20', '?_svc_synchronous=true', '?_abaco_synchronous=True']) {
    const reply = await ask(reactor, query, query);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.text, `got ${query}\n`);
    assert.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(reply.headers.get('x-execution-status'), 'COMPLETE');
    assert.equal(reply.headers.get('x-exit-code'), '3');
    const id = reply.headers.get('x-execution-id') ?? '';
    assert.equal((await scene.admin.record(reactor, id)).status, 'COMPLETE');
    assert.ok(reply.headers.get('location')?.endsWith(`/executions/${id}`));
  }
  const silent = await register('true');
  const reply = await ask(silent, '?wait=20');
  assert.deepEqual([reply.status, reply.text], [200, '']);
});

test('the first result is the answer, as soon as it is there, and is taken by it', async () => {
  const program = `
import os, socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect('/_svc_results.sock')
s.send(b'\\x00\\xff first'); s.send(b'second')
while not os.path.exists('/tmp/never'): time.sleep(0.05)
`;
  const reactor = await scene.admin.register({
    image: python.reference,
    default_environment: { RUN: program },
  });
  const reply = await fetch(`${scene.service.url}/actors/v2/${reactor}/messages?wait=20`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.admin.token}`, 'content-type': 'text/plain' },
    body: 'x',
  });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'application/octet-stream');
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), Buffer.from('\x00\xff first', 'latin1'));
  const id = reply.headers.get('x-execution-id') ?? '';
  assert.equal((await scene.admin.record(reactor, id)).status, 'RUNNING');
  const next = await until('the second', async () => {
    const { text } = await scene.admin.call('GET', `/${reactor}/executions/${id}/results`);
    return text !== '' && text;
  });
  assert.equal(next, 'second');
  await scene.admin.call('DELETE', `/${reactor}/executions/${id}`);
  await scene.admin.ended(reactor, id);
});

test('when the time passes first, the reply is the usual one', async () => {
  const reactor = await register('sleep 600');
  const began = Date.now();
  const reply = await ask(reactor, '?wait=1');
  assert.equal(reply.status, 201);
  assert.ok(Date.now() - began >= 1000);
  const { executionId, msg } = reply.json().result;
  assert.equal(msg, 'x');
  assert.equal(reply.headers.get('x-execution-id'), executionId);
  await scene.admin.call('DELETE', `/${reactor}/messages`);
  await scene.admin.running(reactor, executionId);
  await scene.admin.call('DELETE', `/${reactor}/executions/${executionId}`);
  await scene.admin.ended(reactor, executionId);
});

test('what is no time, and more than the service allows, is refused and nothing accepted', async () => {
  const reactor = await register('true');
  for (const query of [
    '?wait=31',
    '?wait=-1',
    '?wait=soon',
    '?wait=1&wait=2',
    '?_svc_synchronous=maybe',
  ]) {
    const reply = await ask(reactor, query);
    assert.equal(reply.status, 400, query);
    assert.match(reply.json().message, /^(wait|_svc_synchronous)/);
  }
  for (const query of ['?wait=0', '?_abaco_synchronous=False'])
    assert.equal((await ask(reactor, query)).status, 201, query);
  const list = await scene.admin.call('GET', `/${reactor}/executions`);
  assert.equal(list.json().result.totalExecutions, 2);
});

/** Puts the file into its container for which the program of the reactor waits. */
async function letGo(reactor: string): Promise<void> {
  const engine = openTestEngine(scene.service.data);
  try {
    const go = { path: '/tmp/go', mode: 0o644, content: Buffer.from('') };
    await until('the container to take the file', async () => {
      const [container] = await engine.list({ 'reactord.reactor': reactor });
      if (container === undefined) return false;
      await engine.handOver(container.id, [go]);
      return true;
    });
  } finally {
    await engine.close();
  }
}

test('a dropped execution answers too, and a client that leaves stops nothing', async () => {
  const reactor = await register('while [ ! -e /tmp/go ]; do sleep 0.1; done; echo done');
  const left = new AbortController();
  const gone = fetch(`${scene.service.url}/actors/v2/${reactor}/messages?wait=20`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.admin.token}`, 'content-type': 'text/plain' },
    body: 'x',
    signal: left.signal,
  }).catch((error: unknown) => error);
  const [first] = await until('the first to be there', async () => {
    const list = await scene.admin.call('GET', `/${reactor}/executions`);
    return list.json().result.executions.length > 0 && list.json().result.executions;
  });
  const waiting = ask(reactor, '?wait=20');
  await until('the second to wait', async () => {
    const inbox = await scene.admin.call('GET', `/${reactor}/messages`);
    return inbox.json().result.messages === 1;
  });
  left.abort();
  assert.ok((await gone) instanceof Error);
  await scene.admin.call('DELETE', `/${reactor}/messages`);
  const dropped = await waiting;
  assert.equal(dropped.status, 200);
  assert.equal(dropped.headers.get('x-execution-status'), 'ERROR');
  await letGo(reactor);
  await scene.admin.ended(reactor, first.id);
  assert.equal(await scene.admin.log(reactor, first.id), 'done\n');
});

test('only so many wait at once, those who leave make room, and a stop lets them go', async () => {
  const reactor = await register('sleep 600');
  const waits = Array.from({ length: 3 }, () => ask(reactor, '?wait=30'));
  await until('all three to wait', async () => {
    const list = await scene.admin.call('GET', `/${reactor}/executions`);
    return list.json().result.totalExecutions === 3;
  });
  const refused = await ask(reactor, '?wait=30');
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '5');
  const list = await scene.admin.call('GET', `/${reactor}/executions`);
  assert.equal(list.json().result.totalExecutions, 3);
  scene.service.signal('SIGTERM');
  for (const wait of waits) assert.equal((await wait).status, 201);
  assert.equal(await scene.service.ended, 0);
});
