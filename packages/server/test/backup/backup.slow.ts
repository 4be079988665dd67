import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

function backUp(data: string, ...words: string[]) {
  const { promise, resolve } = Promise.withResolvers<{ code: number; said: string }>();
  const { PATH } = process.env;
  execFile(
    process.execPath,
    [entry, 'backup', ...words],
    { env: { PATH, REACTORD_DATA: data } },
    (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr }),
  );
  return promise;
}

describe('a backup', () => {
  let scene: Scene;
  let folder: string;
  before(async () => {
    scene = await openScene({ environment: { REACTORD_STOP_GRACE: '0' } });
    folder = mkdtempSync(join(tmpdir(), 'reactord-backups-'));
  });
  after(async () => {
    await scene?.dispose();
    rmSync(folder, { recursive: true });
  });

  test('that is made while messages pour in has every message accepted before, users, tokens, secrets and logs', async (t) => {
    const { image } = scene;
    const ada = await scene.user('ada');
    const done = await ada.register({
      image: image.reference,
      default_environment: { RUN: 'echo "$MSG and $WORD"' },
    });
    const config = { name: 'WORD', value: 'open sesame', is_secret: true, actors: done };
    const made = await ada.call('POST', '/configs', {
      body: JSON.stringify(config),
      type: 'application/json',
    });
    assert.equal(made.status, 201, made.text);
    const first = await ada.runOnce(done, 'first');
    // This one waits until somebody deletes what it waits behind.
    const busy = await ada.register({
      image: image.reference,
      default_environment: { RUN: '[ "$MSG" = block ] && sleep 600; echo "$MSG"' },
    });
    await ada.running(busy, await ada.send(busy, 'block'));

    const pouring = pourMessages(ada, busy);
    t.after(() => pouring.stop());
    const before = await pouring.atLeast(30);
    const target = join(folder, 'first');
    const { code, said } = await backUp(scene.service.data, target);
    assert.equal(code, 0, said);
    assert.match(said, /has reactord\.db, logs\.db, secrets\.key, instance\.\n$/);
    await pouring.stop();
    assert.deepEqual(readdirSync(folder), ['first'], 'and leaves nothing unfinished');
    assert.equal(statSync(target).mode & 0o777, 0o700);
    for (const name of readdirSync(target))
      assert.equal(statSync(join(target, name)).mode & 0o077, 0, `${name} is for its owner only`);

    // The one that goes on would share its containers with the restored one.
    scene.service.signal('SIGKILL');
    await scene.service.ended;
    const restored = await startService({
      data: target,
      environment: { REACTORD_PULL_POLICY: 'missing', REACTORD_STOP_GRACE: '0' },
    });
    t.after(restored.dispose);
    await proveRestored(restored, ada, { done, busy, first: first.id, before });
  });

  test('does not overwrite anything, and says what is wrong with the command line', async () => {
    const { data } = scene.service;
    const there = join(folder, 'there');
    mkdirSync(there);
    const [taken, nowhere, unwritable, ...wrong] = await Promise.all([
      backUp(data, there),
      backUp('/nowhere/data', join(folder, 'x')),
      backUp(data, '/dev/null/backup'),
      backUp(data),
      backUp(data, 'a', 'b'),
      backUp(data, '--fast', 'a'),
    ]);
    assert.deepEqual([taken.code, nowhere.code, unwritable.code], [1, 1, 1]);
    assert.match(taken.said, /there is there already/);
    assert.match(nowhere.said, /no data folder \/nowhere\/data/);
    assert.match(unwritable.said, /could not be written/);
    assert.deepEqual(
      wrong.map(({ code }) => code),
      [2, 2, 2],
    );
    assert.equal(existsSync(join(folder, 'x')), false);
  });
});

interface Before {
  readonly done: string;
  readonly busy: string;
  readonly first: string;
  readonly before: readonly string[];
}

async function proveRestored(
  service: RunningService,
  ada: Sender,
  { done, busy, first, before }: Before,
): Promise<void> {
  // The token is the one from before.
  ada.service = service;
  assert.equal(await ada.log(done, first), 'first and [redacted]\n');
  for (const id of before) assert.equal((await ada.record(busy, id)).actorId, busy);
  const { log } = await ada.runOnce(done, 'later');
  assert.equal(log, 'later and [redacted]\n', 'the secret is there, and still one');
  // What waited runs in its order, once what was running has been found again and halted.
  const running = await ada.call('GET', `/${busy}/executions?status=RUNNING`);
  for (const { id } of running.json().result.search ?? running.json().result.executions)
    await ada.call('DELETE', `/${busy}/executions/${id}`);
  const [oldest = ''] = before;
  assert.equal((await ada.ended(busy, oldest)).exitCode, 0);
  assert.match(await ada.log(busy, oldest), /^message 0\n/);
}

/** Posts one message after the other until it is stopped. */
function pourMessages(sender: Sender, reactor: string) {
  const accepted: string[] = [];
  const state = { stopped: false };
  const pouring = (async () => {
    while (!state.stopped) accepted.push(await sender.send(reactor, `message ${accepted.length}`));
  })();
  return {
    /** Those that are accepted by now, once there are so many. */
    atLeast: async (count: number): Promise<readonly string[]> => {
      await until('messages to be accepted', () => accepted.length >= count);
      return [...accepted];
    },
    stop: async () => {
      state.stopped = true;
      await pouring;
    },
  };
}
