import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openScene, type Scene } from '../../server/test/harness/execution-scene.ts';
import { until } from '../../server/test/harness/until.ts';
import {
  BadRequestError,
  ConflictError,
  NotFoundError,
  nonce,
  ReactordClient,
  ReactordError,
  type ToldEvent,
  UnauthorizedError,
} from '../src/index.ts';

describe('reactors at a running service', () => {
  let scene: Scene;
  let client: ReactordClient;
  let reactorId: string;
  /** Runs the shell program that is its variable RUN. */
  const register = async (RUN: string, more: object = {}) => {
    const fields = { image: scene.image.reference, defaultEnvironment: { RUN }, ...more };
    const { id } = await client.reactors.create(fields);
    await client.reactors.untilReady(id);
    return id;
  };
  const show =
    'if [ -n "$_svc_message_file" ]; then cat $_svc_message_file; else echo -n "$MSG"; fi';
  before(async () => {
    scene = await openScene();
    client = new ReactordClient({ baseUrl: scene.service.url, auth: scene.admin.token });
    reactorId = await register(`${show}; echo " $_svc_Content_Type $A $_svc_ce_type"`, {
      maxWorkers: 4,
    });
  });
  after(() => scene?.dispose());

  const logOf = async (executionId: string, id = reactorId) => {
    await client.executions.untilOver(id, executionId);
    return (await client.executions.logs(id, executionId)).logs;
  };

  test('take messages of every kind', async () => {
    const big = new Uint8Array(200_000).fill(97);
    const sent = [
      await client.reactors.send(reactorId, 'grüße'),
      await client.reactors.send(reactorId, { a: [1, null] }, { environment: { A: 'a b' } }),
      await client.reactors.send(reactorId, new Uint8Array([98, 99])),
      await client.reactors.send(reactorId, new Blob(['blob'])),
      await client.reactors.send(reactorId, new Blob(['stream']).stream()),
      await client.reactors.send(reactorId, big),
      await client.reactors.sendEvent(reactorId, { id: '1', source: '/s', type: 't', data: [1] }),
    ];
    assert.deepEqual(sent[1]?.msg, { a: [1, null] });
    const logs = await Promise.all(sent.map(({ executionId }) => logOf(executionId)));
    assert.deepEqual(logs, [
      'grüße str  \n',
      '{"a":[1,null]} application/json a b \n',
      'bc application/octet-stream  \n',
      'blob application/octet-stream  \n',
      'stream application/octet-stream  \n',
      `${'a'.repeat(200_000)} application/octet-stream  \n`,
      '[1] application/json  t\n',
    ]);
    const posted = await client.executions.message(reactorId, sent[2]?.executionId ?? '');
    assert.deepEqual(posted.bytes, new Uint8Array([98, 99]));
    const { executionIds } = await client.reactors.sendMany(reactorId, [{ n: 1 }, 'two', 3]);
    const events = await client.reactors.sendEvents(reactorId, [
      { id: '1', source: '/s', type: 'x', data: new Uint8Array([104, 105]) },
      { id: '2', source: '/s', type: 'y' },
    ]);
    const batch = [...executionIds, ...events.executionIds];
    assert.deepEqual(await Promise.all(batch.map((id) => logOf(id))), [
      '{"n":1} application/json  \n',
      '"two" application/json  \n',
      '3 application/json  \n',
      'hi application/octet-stream  x\n',
      ' str  y\n',
    ]);
  });

  test('answer those who wait', async () => {
    const log = await client.reactors.send(reactorId, 'hello', { wait: 30 });
    assert.deepEqual(log, {
      executionId: log.executionId,
      answered: true,
      status: 'COMPLETE',
      exitCode: 0,
      log: 'hello str  \n',
    });
    const slow = await register('sleep 20');
    const late = await client.reactors.send(slow, 'hello', { wait: 1 });
    assert.equal(late.answered, false);
    await until('the execution to run', async () => {
      return (await client.executions.get(slow, late.executionId)).status === 'RUNNING';
    });
    await client.executions.halt(slow, late.executionId);
    assert.equal((await client.executions.untilOver(slow, late.executionId)).status, 'COMPLETE');
  });

  test('run once for a key, however often it is sent', async () => {
    const key = { idempotencyKey: 'order-42' };
    const one = await client.reactors.send(reactorId, 'hello', key);
    const two = await client.reactors.send(reactorId, 'hello', key);
    assert.equal(one.executionId, two.executionId);
    await assert.rejects(client.reactors.send(reactorId, 'other', key), { status: 422 });
  });

  test('list their executions page by page', async () => {
    const id = await register('true', { maxWorkers: 4 });
    const { executionIds } = await client.reactors.sendMany(id, Array.from({ length: 7 }).fill({}));
    const listed: string[] = [];
    for await (const execution of client.executions.list(id, { limit: 3 }))
      listed.push(execution.id);
    assert.deepEqual(listed, [...executionIds].reverse());
    assert.equal((await client.executions.list(id).page()).totalExecutions, 7);
    await Promise.all(executionIds.map((each) => client.executions.untilOver(id, each)));
    const found = client.search.executions({ actorId: id, status: 'COMPLETE', limit: 2 });
    assert.equal((await found.toArray()).length, 7);
    const page = await found.page();
    assert.equal(page._metadata.totalCount, 7);
    const reactors = await client.reactors.list({ limit: 1 }).toArray();
    assert.equal(reactors[0]?.id, id);
    assert.ok(reactors.length > 1);
  });

  test('are changed in some fields, and keep the others', async () => {
    const { id } = await client.reactors.create({
      image: scene.image.reference,
      description: 'first',
      default_environment: { RUN: 'true' },
      timeout: 60,
      hints: ['a', 'b'],
    });
    const before = await client.reactors.untilReady(id);
    const changed = await client.reactors.update(id, { description: 'second' });
    const same = ({ description: _d, lastUpdateTime: _t, ...rest }: typeof before) => rest;
    assert.equal(changed.description, 'second');
    assert.deepEqual(same(changed), same(before));
    assert.equal((await client.reactors.update(id, { timeout: null })).timeout, 43_200);
    const schedule = await client.schedules.set(id, '0 3 * * *');
    assert.equal(schedule.schedule, '0 3 * * *');
    assert.equal((await client.schedules.turn(id, false)).on, false);
    assert.equal((await client.schedules.clear(id)).schedule, null);
    await client.reactors.delete(id);
    await assert.rejects(client.reactors.get(id), NotFoundError);
    const gone = await client.reactors.create({ image: 'localhost:1/nothing:1' });
    const seen: string[] = [];
    const onProgress = ({ status }: { status: string }) => void seen.push(status);
    await assert.rejects(
      client.reactors.untilReady(gone.id, { onProgress }),
      (error) => error instanceof ReactordError && error.code === 'reactor_not_ready',
    );
    assert.equal(seen.at(-1), 'ERROR');
    await assert.rejects(client.reactors.create({ image: '' }), BadRequestError);
  });

  test('remember, also when many change it at once', async () => {
    const id = await register('true', { stateless: false });
    const { state, etag } = await client.states.get(id);
    assert.deepEqual(state, {});
    await client.states.set(id, { count: 0 }, { ifMatch: etag });
    await assert.rejects(client.states.set(id, {}, { ifMatch: etag }), ConflictError);
    await Promise.all(
      Array.from({ length: 8 }, () =>
        client.states.update<{ count: number }>(id, ({ count }) => ({ count: count + 1 })),
      ),
    );
    assert.deepEqual((await client.states.get(id)).state, { count: 8 });
  });

  test('are opened by a nonce, and known by an alias', async () => {
    const { id } = await client.nonces.create(reactorId, { level: 'EXECUTE', maxUses: 1 });
    const visitor = client.as(nonce(id ?? ''));
    const { executionId } = await visitor.reactors.send(reactorId, 'by nonce');
    assert.equal(await logOf(executionId), 'by nonce str  \n');
    await assert.rejects(visitor.reactors.send(reactorId, 'again'), UnauthorizedError);
    await client.aliases.create({ alias: 'sdk', actorId: reactorId });
    assert.equal((await client.reactors.get('sdk')).id, reactorId);
    assert.deepEqual(
      Object.keys(await client.permissions.set({ alias: 'sdk' }, 'WORLD', 'READ')).sort(),
      ['WORLD', 'admin'],
    );
    await client.aliases.delete('sdk');
    await assert.rejects(client.aliases.get('sdk'), NotFoundError);
  });

  test('tell what happens, while it happens', async () => {
    const left = new AbortController();
    const told: ToldEvent[] = [];
    const following = (async () => {
      const wish = { reactorId, after: '0', signal: left.signal };
      for await (const event of client.events.follow(wish)) told.push(event);
    })();
    await until('the stream to be open', () => told.length > 0);
    const { executionId } = await client.reactors.send(reactorId, 'hello');
    const own = () => told.filter(({ execution_id }) => execution_id === executionId);
    await until('the end to be told', () => own().length === 2);
    left.abort();
    await assert.rejects(following, { name: 'AbortError' });
    assert.deepEqual(
      own().map(({ event_type }) => event_type),
      ['EXECUTION_STARTED', 'EXECUTION_COMPLETE'],
    );
  });

  test('have a log that is followed across a service that was killed and started again', async () => {
    const id = await register('for n in $(seq 1 40); do echo line $n; sleep 0.1; done; exit 7');
    const { executionId } = await client.reactors.send(id, 'go');
    // It comes back at another port: the client is told by a fetch of its own.
    const moving: typeof fetch = (input, init) =>
      fetch(String(input).replace(/^http:\/\/[^/]+/, scene.service.url), init);
    const follower = new ReactordClient({
      baseUrl: scene.service.url,
      auth: scene.admin.token,
      fetch: moving,
    });
    const log = follower.executions.followLogs(id, executionId);
    let text = '';
    let restarted: Promise<void> | undefined;
    for await (const line of log) {
      text += line.text;
      if (text.includes('line 5\n')) restarted ??= scene.restart('SIGKILL');
    }
    await restarted;
    client = new ReactordClient({ baseUrl: scene.service.url, auth: scene.admin.token });
    assert.equal(text, Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join(''));
    assert.deepEqual(log.end, { status: 'COMPLETE', exitCode: 7 });
  });
});
