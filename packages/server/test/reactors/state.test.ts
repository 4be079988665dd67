import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { makePythonImage } from '../harness/python-image.ts';
import type { RunImage } from '../harness/run-image.ts';

/** What a stateful reactor remembers. */

let scene: Scene;
let python: RunImage;
let reactor: string;

const json = 'application/json';

before(async () => {
  python = await makePythonImage();
  scene = await openScene({ environment: { REACTORD_SECOND_PREFIX: '_abaco_' } });
  reactor = await stateful();
});

after(async () => {
  await scene?.dispose();
  await python?.remove();
});

const fields = () => ({
  image: scene.image.reference,
  stateless: false,
  default_environment: { RUN: 'printf "%s|%s" "$_svc_actor_state" "$_abaco_actor_state"' },
});
const stateful = () => scene.admin.register(fields());

const getState = (id = reactor) => scene.admin.call('GET', `/${id}/state`);
const postState = (state: unknown, headers: Record<string, string> = {}, id = reactor) =>
  scene.admin.call('POST', `/${id}/state`, { body: JSON.stringify(state), type: json, headers });

test('it is {} at first, then what was posted, keys and all, and executions get it as JSON', async () => {
  const first = await getState();
  assert.deepEqual(first.json().result.state, {});
  const state = { some_key: { nested_key: [1, null, 'ü'] }, camelKey: 0 };
  const posted = await postState(state);
  assert.equal(posted.status, 200, posted.text);
  assert.deepEqual(posted.json().result.state, state);
  const read = await getState();
  assert.deepEqual(read.json().result.state, state);
  assert.notEqual(read.headers.get('etag'), first.headers.get('etag'));
  assert.equal(read.headers.get('etag'), posted.headers.get('etag'));
  const { log } = await scene.admin.runOnce(reactor);
  const [own, ancestors] = log.split('|');
  assert.deepEqual(JSON.parse(own ?? ''), state);
  assert.equal(own, ancestors);
});

test('any JSON but null is a state, and so is text', async () => {
  for (const state of ['a text', 7, [1, 2], true, false, 0])
    assert.deepEqual((await postState(state)).json().result.state, state);
  const text = await scene.admin.call('POST', `/${reactor}/state`, {
    body: 'not JSON',
    type: 'text/plain',
  });
  assert.equal(text.json().result.state, 'not JSON');
  for (const bad of ['null', '', '{"a":', `${'['.repeat(100_000)}${']'.repeat(100_000)}`]) {
    const reply = await scene.admin.call('POST', `/${reactor}/state`, { body: bad, type: json });
    assert.equal(reply.status, 400, reply.text);
  }
  assert.equal((await getState()).json().result.state, 'not JSON');
});

test('the largest state reaches a container, and a larger one is refused with 413', async () => {
  const largest = 'x'.repeat(120 * 1024 - 2);
  assert.equal((await postState(largest)).status, 200);
  const { log } = await scene.admin.runOnce(reactor);
  assert.equal(log, `"${largest}"|"${largest}"`);
  assert.equal((await postState(`${largest}x`)).status, 413);
  assert.equal((await postState('x'.repeat(3 * 1024 * 1024))).status, 413);
});

test('the record of a stateful reactor shows it, and a PUT keeps it', async () => {
  await postState({ kept: 1 });
  const record = await scene.admin.call('GET', `/${reactor}`);
  assert.deepEqual(record.json().result.state, { kept: 1 });
  const put = await scene.admin.call('PUT', `/${reactor}`, {
    body: JSON.stringify({ ...fields(), description: 'changed' }),
    type: json,
  });
  assert.deepEqual(put.json().result.state, { kept: 1 });
});

test('a stateless reactor has none', async () => {
  const id = await scene.admin.register({ image: scene.image.reference });
  for (const reply of [await getState(id), await postState({}, {}, id)]) {
    assert.equal(reply.status, 400);
    assert.match(reply.json().message, /stateless/);
  }
  assert.ok(!('state' in (await scene.admin.call('GET', `/${id}`)).json().result));
});

test('a stateful reactor cannot have more than one worker', async () => {
  const body = JSON.stringify({ ...fields(), max_workers: 2 });
  const reply = await scene.admin.call('POST', '', { body, type: json });
  assert.equal(reply.status, 400);
  assert.match(reply.json().message, /max_workers|maxWorkers/);
});

test('nobody but its owner sees or changes it', async () => {
  const stranger = await scene.user('stranger');
  const path = `/${reactor}/state`;
  assert.equal((await stranger.call('GET', path)).status, 404);
  assert.equal((await stranger.call('POST', path, { body: '{}', type: json })).status, 404);
});

test('If-Match: the named state is replaced, another one is not', async () => {
  const id = await stateful();
  const never = (await getState(id)).headers.get('etag') ?? '';
  assert.equal((await postState({ n: 1 }, { 'if-match': never }, id)).status, 200);
  const late = await postState({ n: 2 }, { 'if-match': never }, id);
  assert.equal(late.status, 409);
  assert.match(late.json().message, /changed.*If-Match/);
  const now = (await getState(id)).headers.get('etag') ?? '';
  assert.equal((await postState({ n: 3 }, { 'if-match': `W/${now}` }, id)).status, 409);
  assert.equal((await postState({ n: 3 }, { 'if-match': 'no tag' }, id)).status, 400);
  assert.deepEqual((await getState(id)).json().result.state, { n: 1 });
  assert.equal((await postState({ n: 4 }, { 'if-match': `"x", ${now}` }, id)).status, 200);
  assert.equal((await postState({ n: 5 }, { 'if-match': '*' }, id)).status, 200);
});

test('of fifty conditional updates at once exactly one wins, round after round', async () => {
  const id = await stateful();
  for (let round = 0; round < 5; round += 1) {
    const etag = (await getState(id)).headers.get('etag') ?? '';
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, who) => postState({ round, who }, { 'if-match': etag }, id)),
    );
    const won = replies.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.equal(replies.filter(({ status }) => status === 409).length, 49);
    assert.deepEqual((await getState(id)).json().result, won[0]?.json().result);
  }
});

test('a container counts on with its own token, one execution at a time', async () => {
  const program = `
import os, json, urllib.request
state = json.loads(os.environ['_svc_actor_state'])
state['count'] = state.get('count', 0) + 1
r = urllib.request.Request(os.environ['_svc_api_server'] + '/actors/v2/' + os.environ['_svc_actor_id'] + '/state',
    data=json.dumps(state).encode(), headers={'Authorization': 'Bearer ' + os.environ['_svc_access_token'],
    'Content-Type': 'application/json'})
urllib.request.urlopen(r)
`;
  const id = await scene.admin.register({
    image: python.reference,
    stateless: false,
    default_environment: { RUN: program },
  });
  const sent = await Promise.all(Array.from({ length: 6 }, () => scene.admin.send(id)));
  for (const execution of sent) assert.equal((await scene.admin.ended(id, execution)).exitCode, 0);
  assert.deepEqual((await getState(id)).json().result.state, { count: 6 });
});

test('a container keeps the state of its own reactor, and of no other, whoever posted its message', async () => {
  const guest = await scene.user('guest');
  const program = `
import os, urllib.request, urllib.error
def post(reactor, token):
    r = urllib.request.Request(os.environ['_svc_api_server'] + '/actors/v2/' + reactor + '/state', data=b'{"by": "guest"}',
        headers={'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'})
    try:
        return urllib.request.urlopen(r).status
    except urllib.error.HTTPError as error:
        return error.code
token = os.environ['_svc_access_token']
print(post(os.environ['_svc_actor_id'], token), post(os.environ['OTHER'], token), post(os.environ['ALIAS'], token))
`;
  const keeps = (RUN: string) => ({
    image: python.reference,
    stateless: false,
    default_environment: { RUN, OTHER: reactor, ALIAS: 'guest-book' },
  });
  const id = await scene.admin.register(keeps(program));
  const post = (path: string, fields: object) =>
    scene.admin.call('POST', path, { body: JSON.stringify(fields), type: json });
  await post('/aliases', { alias: 'guest-book', actor_id: id });
  for (const shared of [id, reactor])
    await post(`/${shared}/permissions`, { user: 'guest', level: 'EXECUTE' });
  const before = (await getState()).json().result.state;
  const { log } = await guest.runOnce(id);
  assert.equal(log, '200 403 200\n');
  assert.deepEqual((await getState(id)).json().result.state, { by: 'guest' });
  assert.deepEqual((await getState()).json().result.state, before);
  // From outside it is theirs to read, and no more.
  const outside = await guest.call('POST', `/${id}/state`, { body: '{}', type: json });
  assert.equal(outside.status, 403);
});
