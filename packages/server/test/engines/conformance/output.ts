import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect, run, type Subject, specOf, startUntil } from './subject.ts';

export function testOutput(get: () => Subject): void {
  describe('output', () => {
    test('both streams come apart, in order, byte for byte, also what is not text', async () => {
      const script = "printf 'a\\377\\200\\000b\\n'; printf 'bad\\376' >&2; printf 'end'";
      const { engine } = get();
      const { id } = await engine.create(specOf(get(), script));
      const live = collect(await engine.attach(id));
      await engine.start(id);
      const expected = {
        stdout: Buffer.from('61ff8000620a656e64', 'hex'),
        stderr: Buffer.from('626164fe', 'hex'),
      };
      assert.deepEqual(await live, expected);
      assert.deepEqual(await collect(await engine.replay(id)), expected);
      await engine.remove(id);
    });

    test('what is written in the very last moment is there, on both streams', async () => {
      const script = 'seq 1 20000; seq 1 20000 >&2; printf last; printf least >&2';
      const numbers = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join('');
      for (let i = 0; i < 5; i++) {
        const { stdout, stderr } = await run(get(), script);
        assert.ok(stdout === `${numbers}last`, `stdout has ${stdout.length}`);
        assert.ok(stderr === `${numbers}least`, `stderr has ${stderr.length}`);
      }
    });

    test('a line of 5 MB comes whole, live and again', async () => {
      const { engine } = get();
      const { id } = await engine.create(
        specOf(get(), "head -c 5000000 /dev/zero | tr '\\0' y; printf '\\nz'"),
      );
      const live = collect(await engine.attach(id));
      await engine.start(id);
      const expected = `${'y'.repeat(5_000_000)}\nz`;
      assert.ok((await live).stdout.toString() === expected);
      assert.ok((await collect(await engine.replay(id))).stdout.toString() === expected);
      await engine.remove(id);
    });

    test('chunks carry the time at which they were written', async () => {
      const { engine } = get();
      const { id } = await engine.create(specOf(get(), 'echo a; sleep 1; echo b'));
      const output = await engine.attach(id);
      const before = Date.now();
      await engine.start(id);
      const live: number[] = [];
      for await (const { time } of output) live.push(time);
      const replayed: number[] = [];
      for await (const { time } of await engine.replay(id)) replayed.push(time);
      for (const times of [live, replayed]) {
        const [a = 0, b = 0] = times;
        assert.equal(times.length, 2);
        assert.ok(a >= before - 50 && b - a > 800 && b <= Date.now(), `${times}`);
      }
      await engine.remove(id);
    });

    test('a closed output ends quietly and leaves the container alone', async () => {
      const { engine } = get();
      const { id, output } = await startUntil(
        engine,
        specOf(get(), 'echo up; sleep 0.5; exit 6'),
        'up',
      );
      const rest = collect(output);
      output.close();
      await rest;
      assert.equal((await engine.ended(id)).exitCode, 6);
      await engine.remove(id);
    });

    test('a service that comes back gets everything again, and what is still to come', async (t) => {
      const { engine } = get();
      const script =
        'seq 1 3000; echo half; while [ ! -e /go ]; do sleep 0.05; done; seq 1 3000 >&2; printf end';
      const { id } = await startUntil(engine, specOf(get(), script), 'half');
      const second = get().again();
      t.after(() => second.close());
      const replay = collect(await second.replay(id));
      const ended = second.ended(id);
      await second.handOver(id, [{ path: '/go', mode: 0o644, content: Buffer.from('') }]);
      const numbers = Array.from({ length: 3000 }, (_, at) => `${at + 1}\n`).join('');
      const { stdout, stderr } = await replay;
      assert.equal(stdout.toString(), `${numbers}half\nend`);
      assert.equal(stderr.toString(), numbers);
      assert.equal((await ended).exitCode, 0);
      await second.remove(id);
    });

    test('of a container that writes without end, at least the newest part stays for a replay', async () => {
      const { engine } = get();
      const kept = 100_000;
      await run(
        get(),
        `awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "%060d\\n", i; printf "end" }'`,
        { logBytes: kept },
        async ({ id, stdout }) => {
          const replayed = (await collect(await engine.replay(id))).stdout.toString();
          assert.ok(replayed.length >= 2 * kept, `${replayed.length} stayed`);
          assert.ok(replayed.length < stdout.length, 'nothing was dropped');
          assert.ok(stdout.endsWith(replayed));
        },
      );
    });
  });
}
