import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { collect, run, type Subject, specOf } from './subject.ts';

export interface Effort {
  readonly runs: number;
  readonly megabytes: number;
}

/** What goes wrong once in a while, or with much: as often and as much as there is time for. */
export function testEndurance(get: () => Subject, { runs, megabytes }: Effort): void {
  describe('endurance', () => {
    test(`an unterminated last line is never lost: ${runs} runs of printf x give ${runs} x`, async () => {
      const left = Array.from({ length: runs }, (_, at) => at);
      const written: string[] = [];
      const next = async (): Promise<void> => {
        for (let at = left.pop(); at !== undefined; at = left.pop())
          written.push((await run(get(), 'printf x', { group: `g${at % 4}` })).stdout);
      };
      await Promise.all([next(), next(), next(), next()]);
      assert.deepEqual(
        written,
        Array.from({ length: runs }, () => 'x'),
      );
    });

    test(`a replay that follows to the end does not lose the last line either, in ${runs} runs`, async () => {
      const { engine } = get();
      for (let i = 0; i < runs; i++) {
        const { id } = await engine.create(specOf(get(), 'echo one; printf two'));
        const replay = collect(await engine.replay(id));
        await engine.start(id);
        assert.equal((await replay).stdout.toString(), 'one\ntwo');
        await engine.remove(id);
      }
    });

    test(`a child that was killed for memory is told, in ${runs} runs`, async () => {
      const limits = { memoryBytes: 32 * 1024 * 1024, cpus: 1, processes: 20 };
      for (let i = 0; i < runs; i++) {
        const code = i % 2 === 0 ? 4 : 0;
        const { end } = await run(get(), `tail /dev/zero; exit ${code}`, { limits });
        assert.equal(end.exitCode, code);
        assert.equal(end.outOfMemory, true, `run ${i}`);
      }
    });

    test(`a reader that is slow holds ${megabytes} MB back in the container and not in memory`, async () => {
      const { engine } = get();
      const line = 'x'.repeat(999);
      const script = `yes ${line} | head -c ${megabytes}000000; printf end`;
      const { id } = await engine.create(specOf(get(), script, { logBytes: 1024 * 1024 }));
      const output = await engine.attach(id);
      await engine.start(id);
      const before = process.memoryUsage.rss();
      let [length, peak, tail] = [0, 0, ''];
      const sum = createHash('md5');
      for await (const { bytes } of output) {
        length += bytes.length;
        sum.update(bytes);
        tail = Buffer.from(bytes).toString('latin1').slice(-3);
        peak = Math.max(peak, process.memoryUsage.rss() - before);
        await pause(1);
      }
      assert.equal(length, megabytes * 1_000_000 + 3);
      assert.equal(tail, 'end');
      assert.equal(sum.digest('hex'), expectedSum(line, megabytes));
      assert.ok(peak < 80 * 1024 * 1024, `memory grew by ${peak}`);
      assert.equal((await engine.ended(id)).exitCode, 0);
      await engine.remove(id);
    });
  });
}

function expectedSum(line: string, megabytes: number): string {
  const sum = createHash('md5');
  const million = `${line}\n`.repeat(1000);
  for (let i = 0; i < megabytes; i++) sum.update(million);
  return sum.update('end').digest('hex');
}
