import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { ContainerGone, EngineRefused, ImageGone } from '../../../src/engines/engine.ts';
import { newId } from '../../../src/ids.ts';
import { collect, run, type Subject, specOf, startUntil } from './subject.ts';

export function testRunning(get: () => Subject): void {
  describe('running', () => {
    test('a container ends with the exit code of its program, and the engine tells when and how', async () => {
      const before = Date.now() - 1000;
      const { end } = await run(get(), 'exit 42');
      assert.equal(end.exitCode, 42);
      assert.equal(end.outOfMemory, false);
      assert.equal(end.finalState.ExitCode, 42);
      assert.equal(end.finalState.Status, 'exited');
      assert.equal(end.finalState.Running, false);
      assert.ok(Date.parse(end.startedAt) >= before);
      assert.ok(Date.parse(end.finishedAt) >= Date.parse(end.startedAt));
    });

    test('a program that a signal kills has the exit code 128 and the signal', async () => {
      assert.equal((await run(get(), 'kill -SEGV $$')).end.exitCode, 139);
      assert.equal((await run(get(), 'kill -KILL $$')).end.exitCode, 137);
    });

    test('the environment arrives, with line ends, signs and words of any language', async () => {
      const value = 'two\nlines = "quoted" $HOME – žluťoučký 馬';
      const { stdout } = await run(get(), 'printf %s "$THING"', { environment: { THING: value } });
      assert.equal(stdout, value);
    });

    test('the longest variable that Linux takes arrives, and a longer one is refused by name', async () => {
      const { engine } = get();
      const longest = 'x'.repeat(128 * 1024 - 1 - 'BIG='.length);
      const { stdout } = await run(get(), 'printf %s "$BIG" | wc -c', {
        environment: { BIG: longest },
      });
      assert.equal(Number(stdout), longest.length);
      await assert.rejects(
        engine.create(specOf(get(), 'true', { environment: { BIG: `${longest}x` } })),
        (error) => error instanceof EngineRefused && /BIG.*as a file/.test(error.message),
      );
    });

    test('a second create of a name adopts the container of the first, also at the same moment', async () => {
      const { engine } = get();
      const spec = specOf(get(), 'true');
      const made = await Promise.all([
        engine.create(spec),
        engine.create(spec),
        engine.create(spec),
      ]);
      assert.equal(new Set(made.map(({ id }) => id)).size, 1);
      assert.equal(made.filter(({ adopted }) => !adopted).length, 1);
      for (const { id } of made) await engine.remove(id);
    });

    test('a container that has ended is not run a second time by another start', async () => {
      const { engine } = get();
      await run(get(), 'echo once', {}, async ({ id, end }) => {
        await engine.start(id);
        assert.equal((await engine.ended(id)).finishedAt, end.finishedAt);
        assert.equal((await collect(await engine.replay(id))).stdout.toString(), 'once\n');
      });
    });

    test('the end is told to everybody who asks: before the start, while it runs, and afterwards', async () => {
      const { engine } = get();
      const { id } = await engine.create(specOf(get(), 'sleep 0.3; exit 3'));
      const early = [engine.ended(id), engine.ended(id)];
      await engine.start(id);
      const meanwhile = engine.ended(id);
      for (const end of [...early, meanwhile]) assert.equal((await end).exitCode, 3);
      assert.equal((await engine.ended(id)).exitCode, 3);
      await engine.remove(id);
      await assert.rejects(engine.ended(id), ContainerGone);
    });

    test('whoever waits for the end of a container that is removed is told that it is gone', async () => {
      const { engine } = get();
      const { id } = await engine.create(specOf(get(), 'true'));
      const waiting = assert.rejects(engine.ended(id), ContainerGone);
      await engine.remove(id);
      await waiting;
    });

    test('a program that does not care for signals at all still ends at the first request to stop', async () => {
      const { engine } = get();
      const spec = specOf(get(), 'echo up; sleep 600; exit 1');
      const { id } = await startUntil(engine, spec, 'up');
      const began = Date.now();
      await engine.stop(id, 60);
      assert.equal((await engine.ended(id)).exitCode, 143);
      assert.ok(Date.now() - began < 30_000);
      await engine.remove(id);
    });

    test('a program may use its grace, and one that refuses to stop is killed after it', async () => {
      const { engine } = get();
      const polite = specOf(
        get(),
        'trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.1; done',
      );
      const first = await startUntil(engine, polite, 'up');
      await engine.stop(first.id, 60);
      assert.equal((await engine.ended(first.id)).exitCode, 5);
      assert.equal((await collect(first.output)).stdout.toString(), 'bye\n');
      await engine.remove(first.id);

      const stubborn = specOf(get(), 'trap "" TERM; echo up; while :; do sleep 0.1; done');
      const second = await startUntil(engine, stubborn, 'up');
      await engine.stop(second.id, 1);
      assert.equal((await engine.ended(second.id)).exitCode, 137);
      await engine.remove(second.id);
    });

    test('stopping and removing what has ended or is gone is no error', async () => {
      const { engine } = get();
      const { id } = await run(get(), 'true', {}, async (ended) => engine.stop(ended.id, 1));
      await engine.stop(id, 1);
      await engine.remove(id);
    });

    test('a running container is removed at once', async () => {
      const { engine } = get();
      const { id } = await startUntil(engine, specOf(get(), 'echo up; sleep 600'), 'up');
      await engine.remove(id);
      await assert.rejects(engine.replay(id), ContainerGone);
    });

    test('containers are listed by their labels, with their state', async () => {
      const { engine } = get();
      const labels = { 'test.run': newId() };
      const waiting = await engine.create(
        specOf(get(), 'true', { labels: { ...labels, part: 'a' } }),
      );
      const running = await startUntil(
        engine,
        specOf(get(), 'echo up; sleep 600', { labels }),
        'up',
      );
      await run(get(), 'true', { labels }, async ({ id }) => {
        const listed = await engine.list(labels);
        const states = new Map(listed.map((one) => [one.id, one.state]));
        assert.deepEqual(
          states,
          new Map([
            [id, 'ended'],
            [running.id, 'running'],
            [waiting.id, 'created'],
          ]),
        );
        assert.ok(listed.every(({ createdAt }) => Math.abs(Date.now() - createdAt) < 120_000));
        assert.deepEqual(
          (await engine.list({ ...labels, part: 'a' })).map((one) => one.id),
          [waiting.id],
        );
      });
      for (const { id } of [waiting, running]) await engine.remove(id);
    });

    test('files are handed over with their mode, owned by root, up to 64 MiB without copies in memory', async () => {
      const { engine } = get();
      const content = randomBytes(64 * 1024 * 1024);
      const deep =
        '/a/rather/long/way/down/through/many/folders/until/it/is/longer/than/one/hundred/characters/in/all/note';
      const spec = specOf(
        get(),
        `stat -c '%a %u %g' /secret ${deep}; md5sum < /secret; cat ${deep}`,
      );
      const { id } = await engine.create(spec);
      const before = process.memoryUsage.rss();
      await engine.handOver(id, [
        { path: '/secret', mode: 0o440, content },
        { path: deep, mode: 0o644, content: Buffer.from('hello') },
      ]);
      const grown = process.memoryUsage.rss() - before;
      assert.ok(grown < 48 * 1024 * 1024, `${grown} bytes`);
      const written = collect(await engine.attach(id));
      await engine.start(id);
      const sum = createHash('md5').update(content).digest('hex');
      assert.equal((await written).stdout.toString(), `440 0 0\n644 0 0\n${sum}  -\nhello`);
      await engine.remove(id);
    });

    test('an image that the engine does not have, and a program that the image does not have, are told apart', async () => {
      const { engine } = get();
      await assert.rejects(
        engine.create(specOf(get(), 'true', { image: 'reactord-test/none:1' })),
        (error) => error instanceof ImageGone && error.message.includes('reactord-test/none:1'),
      );
      // The engine refuses the start, or what it starts before the program says so and ends with 127.
      const missing = run(get(), '', { entrypoint: ['/no/such/program'] });
      const said = await missing.then(
        ({ end, stderr }) => (end.exitCode === 127 ? stderr : `exit code ${end.exitCode}`),
        (error: unknown) => (error instanceof EngineRefused ? error.message : String(error)),
      );
      assert.match(said, /no\/such\/program/);
    });

    test('what is gone is told as gone by every call', async () => {
      const { engine } = get();
      const none = 'f'.repeat(64);
      await assert.rejects(engine.start(none), ContainerGone);
      await assert.rejects(engine.attach(none), ContainerGone);
      await assert.rejects(engine.replay(none), ContainerGone);
      await assert.rejects(engine.ended(none), ContainerGone);
      await assert.rejects(engine.handOver(none, []), ContainerGone);
      assert.equal(await engine.usage(none), undefined);
    });
  });
}
