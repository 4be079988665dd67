import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  ContainerGone,
  type Engine,
  EngineRefused,
  EngineUnavailable,
  type HandedFile,
  NeverBegun,
  type Spare,
} from '../../../src/engines/engine.ts';
import { newId } from '../../../src/ids.ts';
import { until } from '../../harness/until.ts';
import { collect, run, type SpecChange, type Subject, specOf } from './subject.ts';

/** A driver may say that it cannot. Then everything is started when it is needed. */
export function testSpares(get: () => Subject): void {
  const spareOf = async (
    t: TestContext,
    change: SpecChange = {},
    engine: Engine = get().engine,
  ): Promise<Spare> => {
    const spare = await engine.spare({ ...specOf(get(), 'true'), ...change });
    if (spare === undefined) {
      t.skip('this engine has no spares');
      throw new Error('this engine has no spares');
    }
    t.after(() => get().engine.remove(spare.id));
    return spare;
  };

  const files: readonly HandedFile[] = [
    { path: '/plain', mode: 0o644, content: Buffer.from('no program') },
    { path: '/script', mode: 0o755, content: Buffer.from('echo script "$@" $A\nexit 4\n') },
    { path: '/tmp/tool', mode: 0o755, content: Buffer.from('#!/bin/sh\necho tool "$0" "$@"\n') },
  ];

  /** The same container both ways. */
  const bothWays = async (t: TestContext, change: SpecChange, environment = { A: 'b' }) => {
    const { engine } = get();
    const name = (): string => `test-${newId()}`;
    const { id } = await engine.create({
      ...specOf(get(), ''),
      ...change,
      environment,
      name: name(),
    });
    t.after(() => engine.remove(id));
    await engine.handOver(id, files);
    const cold = collect(await engine.attach(id));
    await engine.start(id);
    const spare = await spareOf(t, { ...change, name: name() });
    await engine.handOver(spare.id, files);
    const warm = collect(await spare.begin(environment));
    const told = async (written: typeof cold, of: string) => {
      const { stdout, stderr } = await written;
      const { exitCode, finalState } = await engine.ended(of);
      const lines = stdout.toString().split('\n').sort();
      // The number of its process is in the words for a program that is missing.
      const error = stderr.toString().replace(/\(\d+\)/, '(n)');
      return { lines, error, exitCode, status: finalState.Status };
    };
    return { cold: await told(cold, id), warm: await told(warm, spare.id) };
  };

  describe('spares', () => {
    test('one waits, and its program begins with the environment that it is given later', async (t) => {
      const { engine } = get();
      const script =
        'printf "%s" "$THING"; echo " err" >&2; readlink /proc/self/fd/0; cat; exit 42';
      const spare = await spareOf(t, { command: ['sh', '-c', script] });
      assert.equal(spare.isUsable(), true);
      const before = Date.now();
      const value = 'two\nlines = "quoted" $HOME – žluťoučký 馬';
      const { stdout, stderr } = await collect(await spare.begin({ THING: value }));
      assert.equal(stdout.toString(), `${value}/dev/null\n`);
      assert.equal(stderr.toString(), ' err\n');
      const end = await engine.ended(spare.id);
      assert.equal(end.exitCode, 42);
      assert.ok(Date.parse(end.startedAt) >= before - 1, end.startedAt);
      assert.equal(end.finalState.StartedAt, end.startedAt);
      assert.ok(Date.parse(end.finishedAt) >= Date.parse(end.startedAt));
      const replayed = await collect(await engine.replay(spare.id));
      assert.equal(replayed.stdout.toString(), `${value}/dev/null\n`);
      assert.equal(replayed.stderr.toString(), ' err\n');
    });

    const ways: Readonly<Record<string, SpecChange>> = {
      'an entrypoint with arguments': { entrypoint: ['sh', '-c'], command: ['env; exit 7'] },
      'a relative path': { command: ['bin/sh', '-c', 'echo "$0"; exit 1'] },
      'a script without a first line': { command: ['/script', 'x y', ''] },
      'a program that is missing': { command: ['nothing-of-that-name', 'x'] },
      'a file that is no program': { command: ['/plain'] },
    };
    for (const [name, change] of Object.entries(ways)) {
      test(`${name} is the same in a spare as in another container`, async (t) => {
        const { cold, warm } = await bothWays(t, change);
        assert.deepEqual(warm, cold);
      });
    }

    test('the program is looked for where the given PATH says', async (t) => {
      const path = ':/plain:/nowhere:/tmp:/bin';
      const { cold, warm } = await bothWays(
        t,
        { command: ['tool', 'a'] },
        Object.assign({ A: 'b' }, { PATH: path }),
      );
      assert.deepEqual(warm, cold);
      assert.match(warm.lines.join(), /tool \/tmp\/tool a/);
    });

    test('a large environment arrives whole, and one that is too large is refused by name', async (t) => {
      const longest = 'x'.repeat(128 * 1024 - 1 - 'BIG='.length);
      const many = Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`V${at}`, String(at).repeat(50_000)]),
      );
      const environment = { ...many, BIG: longest, EMPTY: '' };
      const spare = await spareOf(t, {
        command: ['sh', '-c', 'env | md5sum; printf %s "$V11$BIG" | wc -c'],
      });
      const warm = (await collect(await spare.begin(environment))).stdout.toString();
      assert.match(warm, new RegExp(`\\n${100_000 + longest.length}\\n$`));
      const refused = await spareOf(t);
      await assert.rejects(
        refused.begin({ BIG: `${longest}x` }),
        (error) => error instanceof EngineRefused && /BIG.*as a file/.test(error.message),
      );
    });

    test('what it sends, uses and may not use is as in another container', async (t) => {
      const { engine } = get();
      const limits = { memoryBytes: 32 * 1024 * 1024, cpus: 1, processes: 8 };
      const busy = await spareOf(t, {
        limits,
        command: ['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'],
      });
      await collect(await busy.begin({}));
      const usage = await engine.usage(busy.id);
      assert.ok(usage !== undefined && usage.cpu > 10_000_000, JSON.stringify(usage));
      assert.ok(usage.io < 10_000, JSON.stringify(usage));
      const greedy = await spareOf(t, { limits, command: ['tail', '/dev/zero'] });
      await collect(await greedy.begin({}));
      const end = await engine.ended(greedy.id);
      assert.equal(end.outOfMemory, true);
      assert.equal(end.exitCode, 137);
      const bomb = await spareOf(t, {
        limits,
        command: ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 9 & done; echo all'],
      });
      const { stderr } = await collect(await bomb.begin({}));
      assert.match(stderr.toString(), /can't fork/);
    });

    test('one that ignores the wish to stop is killed after its grace', async (t) => {
      const { engine } = get();
      const spare = await spareOf(t, {
        command: ['sh', '-c', "trap '' TERM; echo up; while :; do sleep 0.1; done"],
      });
      const output = await spare.begin({});
      const iterator = output[Symbol.asyncIterator]();
      assert.equal(Buffer.from((await iterator.next()).value?.bytes ?? '').toString(), 'up\n');
      await engine.stop(spare.id, 1);
      assert.equal((await engine.ended(spare.id)).exitCode, 137);
    });

    test('of one that was never given anything another driver knows that it never began', async (t) => {
      const first = get().again();
      const spare = await spareOf(t, {}, first);
      await first.close();
      assert.equal(await get().engine.begun(spare.id), undefined);
      await until('the spare to have ended', async () => {
        const found = (await get().engine.list({})).find(({ id }) => id === spare.id);
        return found?.state === 'ended';
      });
    });

    test('of one that runs, and of one that has ended, another driver knows since when', async (t) => {
      const { engine } = get();
      const first = get().again();
      const script = 'printf "$A"; while [ ! -e /go ]; do sleep 0.05; done; echo b >&2; exit 3';
      const spare = await spareOf(t, { command: ['sh', '-c', script] }, first);
      const before = Date.now();
      const output = await spare.begin({ A: 'a' });
      output.close();
      await first.close();
      const begun = await engine.begun(spare.id);
      assert.ok(begun !== undefined && Math.abs(Date.parse(begun) - before) < 5_000, begun);
      const replayed = collect(await engine.replay(spare.id));
      await engine.handOver(spare.id, [{ path: '/go', mode: 0o644, content: Buffer.from('') }]);
      assert.deepEqual(
        Object.values(await replayed).map((bytes) => bytes.toString()),
        ['a', 'b\n'],
      );
      const end = await engine.ended(spare.id);
      assert.equal(end.exitCode, 3);
      assert.equal(end.startedAt, begun);
      const last = get().again();
      assert.ok((await last.begun(spare.id)) !== undefined);
      await last.close();
    });

    test('of a container that was never a spare it is told when it was started', async () => {
      const { engine } = get();
      await run(get(), 'true', {}, async ({ id, end }) => {
        assert.equal(await engine.begun(id), end.startedAt);
      });
      const { id } = await engine.create(specOf(get(), 'true'));
      assert.equal(await engine.begun(id), undefined);
      await engine.remove(id);
      await assert.rejects(engine.begun(id), ContainerGone);
    });

    test('one that somebody has stopped, or removed, is of no use and does not begin', async (t) => {
      const { engine } = get();
      const stopped = await spareOf(t);
      await engine.stop(stopped.id, 5);
      await until('the end to be noticed', () => !stopped.isUsable());
      await assert.rejects(stopped.begin({}), NeverBegun);
      assert.equal(await engine.begun(stopped.id), undefined);
      const removed = await spareOf(t);
      await engine.remove(removed.id);
      assert.equal(removed.isUsable(), false);
    });

    test('one whose engine goes away is of no use, and it is known that it never began', async (t) => {
      const { engine, cut, restore } = await get().behindProxy();
      t.after(() => engine.close());
      const spare = await spareOf(t, {}, engine);
      await cut();
      await until('the loss to be noticed', () => !spare.isUsable());
      await assert.rejects(spare.begin({}), EngineUnavailable);
      await restore();
      assert.equal(await engine.begun(spare.id), undefined);
    });
  });
}
