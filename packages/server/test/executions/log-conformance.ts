import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { LogStore } from '../../src/executions/log-store.ts';
import { LogTakenOver } from '../../src/executions/log-writer.ts';
import { openLogDatabase } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../harness/until.ts';
import type { Ground } from '../store/conformance.ts';
import { childOutput } from './log-child-output.ts';
import {
  anyOutput,
  kept,
  outputWith,
  partsOfLog,
  plainOutput,
  roomy,
  said,
  streams,
  writeAll,
  writeBeyondStored,
  written,
} from './log-scene.ts';

const child = fileURLToPath(new URL('log-child.ts', import.meta.url));
/** What the logs must do on every database. */
export function logConformance(dialect: string, newGround: () => Promise<Ground>): void {
  describe(`the logs on ${dialect}`, () => {
    let ground: Ground;
    let store: Store;
    let logs: LogStore;
    let count = 0;
    const fresh = () => {
      count += 1;
      return `log${count}`;
    };
    before(async () => {
      ground = await newGround();
      store = await openLogDatabase(ground);
      logs = new LogStore(store);
    });
    after(async () => {
      await logs.close();
      await ground.remove();
    });

    test('every byte is kept, whatever it is and however it was cut', async () => {
      await fc.assert(
        fc.asyncProperty(anyOutput, async (output) => {
          const id = fresh();
          const writer = await logs.open(id, roomy);
          await writeAll(writer, output);
          await writer.end();
          for (const stream of streams)
            assert.ok((await kept(logs, id, stream)).equals(written(output, stream)));
          const log = await logs.find(id);
          assert.equal(log?.raw.stdout ?? 0, written(output, 'stdout').length);
          assert.equal(log?.raw.stderr ?? 0, written(output, 'stderr').length);
        }),
        { numRuns: 60 },
      );
    });

    test('both streams are kept in the order in which they were written, with the time of each', async () => {
      await fc.assert(
        fc.asyncProperty(plainOutput, async (output) => {
          const id = fresh();
          const writer = await logs.open(id, roomy);
          await writeAll(writer, output);
          await writer.end();
          const perByte = (parts: readonly { stream: string; time: number; bytes: Uint8Array }[]) =>
            parts.flatMap(({ stream, time, bytes }) =>
              [...bytes].map((byte) => `${stream} ${time} ${byte}`),
            );
          assert.deepEqual(perByte(await partsOfLog(logs, id)), perByte(output));
        }),
        { numRuns: 60 },
      );
    });

    test('a log over its limit keeps the beginning and counts the rest exactly', async () => {
      await fc.assert(
        fc.asyncProperty(anyOutput, fc.integer({ min: 1, max: 70_000 }), async (output, limit) => {
          const id = fresh();
          const writer = await logs.open(id, { ...roomy, limitBytes: limit });
          await writeAll(writer, output);
          await writer.end();
          const log = await logs.find(id);
          if (log === undefined) return assert.equal(written(output).length, 0);
          assert.ok(log.size <= limit);
          for (const stream of streams) {
            const all = written(output, stream);
            const got = await kept(logs, id, stream);
            assert.ok(got.equals(all.subarray(0, got.length)), 'the beginning');
            assert.equal(log.raw[stream], all.length);
            assert.equal(log.dropped[stream], all.length - got.length);
          }
          const dropped = log.dropped.stdout + log.dropped.stderr;
          if (dropped === 0) assert.equal(log.size, written(output).length);
        }),
        { numRuns: 60 },
      );
    });

    test('secrets are taken out wherever they are cut, and the bytes of the container still count', async () => {
      const secrets = ['sk_AAB', 'sk_AABBsk', 'zz'];
      // Where one begins with another, the longer one goes as a whole.
      const inOrder = ['sk_AABBsk', 'sk_AAB', 'zz'];
      await fc.assert(
        fc.asyncProperty(outputWith(secrets), async (output) => {
          const id = fresh();
          const writer = await logs.open(id, { ...roomy, secrets });
          await writeAll(writer, output);
          await writer.end();
          const log = await logs.find(id);
          for (const stream of streams) {
            const text = (await kept(logs, id, stream)).toString('latin1');
            assert.equal(
              text,
              leftmostLongest(written(output, stream).toString('latin1'), inOrder),
            );
            assert.equal(log?.raw[stream] ?? 0, written(output, stream).length);
          }
        }),
        { numRuns: 150 },
      );
    });

    test('a writer that comes back at any point goes on as if it had never been away', async () => {
      const secrets = ['sk_AAB', 'zz'];
      await fc.assert(
        fc.asyncProperty(
          outputWith(secrets),
          fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
          fc.option(fc.integer({ min: 1, max: 80 }), { nil: roomy.limitBytes }),
          async (output, stops, limitBytes) => {
            const options = { ...roomy, secrets, limitBytes };
            const [once, again] = [fresh(), fresh()];
            const straight = await logs.open(once, options);
            await writeAll(straight, output);
            await straight.end();
            for (const stop of stops.sort((a, b) => a - b)) {
              const writer = await logs.open(again, options);
              await writeBeyondStored(writer, output.slice(0, stop));
              await writer.release();
            }
            const last = await logs.open(again, options);
            await writeBeyondStored(last, output);
            await last.end();
            for (const stream of streams) {
              if (limitBytes === roomy.limitBytes)
                assert.equal(
                  (await kept(logs, again, stream)).toString('latin1'),
                  leftmostLongest(written(output, stream).toString('latin1'), secrets),
                );
              const [a, b] = [await logs.find(once), await logs.find(again)];
              assert.equal(b?.raw[stream], a?.raw[stream]);
            }
          },
        ),
        { numRuns: 60 },
      );
    });

    test('after kill -9 every byte is there once, in order', { timeout: 120_000 }, async () => {
      const id = fresh();
      for (let kills = 1; kills <= 3; kills += 1) {
        // Each kill meets it in another place: after more and more has become durable.
        await killWriter(ground, id, kills * 150_000);
        const { raw, got } = await settledLog(logs, id);
        for (const stream of streams) {
          const all = written(childOutput(), stream);
          assert.ok(raw[stream] < all.length, 'it was killed in the middle');
          assert.ok(got[stream].equals(all.subarray(0, raw[stream])), 'a prefix, counted as one');
        }
      }
      const writer = await logs.open(id, roomy);
      assert.ok(writer.stored.stdout > 0 && writer.stored.stderr > 0);
      await writeBeyondStored(writer, childOutput());
      await writer.end();
      for (const stream of streams)
        assert.ok((await kept(logs, id, stream)).equals(written(childOutput(), stream)));
    });

    test('200 MB of output take no more memory than a little of it', {
      timeout: 300_000,
    }, async () => {
      const id = fresh();
      const limitBytes = 16 * 1024 * 1024;
      const writer = await logs.open(id, { ...roomy, limitBytes, secrets: ['never there'] });
      const bytes = Buffer.alloc(256 * 1024, 'a line of output that goes on and on\n');
      const start = process.memoryUsage();
      let most = 0;
      for (let sent = 0; sent < 200_000_000; sent += bytes.length) {
        await writer.write({ stream: 'stdout', time: 1, bytes });
        const now = process.memoryUsage();
        most = Math.max(
          most,
          now.arrayBuffers + now.heapUsed - start.arrayBuffers - start.heapUsed,
        );
        // What was used and is not any more is not what this is about.
        if (most > 48_000_000) globalThis.gc?.();
      }
      await writer.end();
      const log = await logs.find(id);
      assert.equal(log?.size, limitBytes);
      assert.equal((log?.dropped.stdout ?? 0) + limitBytes, log?.raw.stdout);
      assert.ok(most < 64_000_000, `${Math.round(most / 1e6)} MB more at the most`);
    });

    test('a line can be read within a tenth of a second', async () => {
      const id = fresh();
      const writer = await logs.open(id, roomy);
      const waits: number[] = [];
      for (let line = 0; line < 20; line += 1) {
        const more = Promise.withResolvers<void>();
        const stop = logs.onMore(id, more.resolve);
        const start = performance.now();
        await writer.write(said(`line ${line}\n`));
        await more.promise;
        waits.push(performance.now() - start);
        stop();
      }
      assert.equal((await kept(logs, id)).toString().split('\n').length, 21);
      const median = waits.sort((a, b) => a - b)[10] ?? 0;
      assert.ok(median < 100, `${median} ms`);
      await writer.end();
    });

    test('a slow log does not become a row for each line', async () => {
      const id = fresh();
      const writer = await logs.open(id, roomy);
      for (let line = 0; line < 12; line += 1) {
        const more = Promise.withResolvers<void>();
        const stop = logs.onMore(id, more.resolve);
        await writer.write(said(`${line}\n`));
        await more.promise;
        stop();
      }
      await writer.end();
      const rows = await store.read
        .selectFrom('log_chunks')
        .select('start')
        .where('execution_id', '=', id)
        .execute();
      assert.equal(rows.length, 1);
    });

    test('the last lines are found as a reader would count them', async () => {
      await fc.assert(
        fc.asyncProperty(anyOutput, fc.integer({ min: 0, max: 8 }), async (output, lines) => {
          const id = fresh();
          const writer = await logs.open(id, roomy);
          await writeAll(writer, output);
          await writer.end();
          for (const stream of [undefined, ...streams]) {
            const all = (await kept(logs, id, stream)).toString('latin1');
            const from = await logs.tail(id, lines, stream);
            const each = all.match(/[^\n]*\n|[^\n]+$/g) ?? [];
            assert.equal(
              (await kept(logs, id, stream, from)).toString('latin1'),
              lines === 0 ? '' : each.slice(-lines).join(''),
            );
          }
        }),
        { numRuns: 40 },
      );
    });

    test('nothing is stored for a container that wrote nothing', async () => {
      const id = fresh();
      const writer = await logs.open(id, roomy);
      await writer.end();
      assert.equal(await logs.find(id), undefined);
      assert.deepEqual(await partsOfLog(logs, id), []);
    });

    test('a dropped log is gone with all its chunks, also while it is being written', async () => {
      const id = fresh();
      const writer = await logs.open(id, roomy);
      await writer.write({ stream: 'stdout', time: 1, bytes: Buffer.alloc(5_000_000, 'x') });
      await logs.drop([id]);
      await writer.write(said('more'));
      await writer.end();
      assert.equal(await logs.find(id), undefined);
      const left = await store.read
        .selectFrom('log_chunks')
        .select('start')
        .where('execution_id', '=', id)
        .execute();
      assert.deepEqual(left, []);
    });

    test('of two writers of one log the one that came first gives way', async () => {
      const id = fresh();
      const first = await logs.open(id, roomy);
      await first.write(said('one\n'));
      await first.release();
      const [second, third] = [new LogStore(store), new LogStore(store)];
      const old = await second.open(id, roomy);
      const newer = await third.open(id, roomy);
      await newer.write(said('two\n'));
      await newer.release();
      await old.write(said('two\n'));
      await assert.rejects(old.end(), LogTakenOver);
      assert.equal((await kept(logs, id)).toString(), 'one\ntwo\n');
    });

    test('another try of the execution goes on behind a line, and its bytes are counted from the first', async () => {
      const large = Buffer.alloc(9_000, 'x').toString();
      for (const before of ['one\n', 'cut', large]) {
        const id = fresh();
        const first = await logs.open(id, { ...roomy, attempt: 1 });
        await writeAll(first, [said(before), said('err\n', 'stderr')]);
        await first.pause();
        const output = [said('two\n'), said('three\n', 'stderr'), said('four\n')];
        const second = await logs.open(id, { ...roomy, attempt: 2 });
        assert.deepEqual(second.stored, { stdout: 0, stderr: 0 });
        await writeAll(second, output.slice(0, 2));
        await second.release();
        // A service that comes back in the middle of the second try.
        const later = await logs.open(id, { ...roomy, attempt: 2 });
        await writeBeyondStored(later, output);
        await later.end();
        const text = (await kept(logs, id)).toString();
        assert.equal(text, `${before}err\n[reactord: attempt 2]\ntwo\nthree\nfour\n`);
      }
    });

    test('a try that wrote nothing leaves no line, and a log over its limit stays so', async () => {
      const silent = fresh();
      await (await logs.open(silent, { ...roomy, attempt: 1 })).pause();
      const after = await logs.open(silent, { ...roomy, attempt: 2 });
      await after.write(said('two\n'));
      await after.end();
      assert.equal((await kept(logs, silent)).toString(), 'two\n');
      const capped = fresh();
      const small = { ...roomy, limitBytes: 4 };
      const full = await logs.open(capped, { ...small, attempt: 1 });
      await full.write(said('one\ntwo\n'));
      await full.pause();
      const more = await logs.open(capped, { ...small, attempt: 2 });
      await more.write(said('three\n'));
      await more.end();
      assert.equal((await kept(logs, capped)).toString(), 'one\n');
      assert.equal((await logs.find(capped))?.dropped.stdout, 10);
    });

    test('a writer of an earlier try gives way', async () => {
      const id = fresh();
      const first = await logs.open(id, { ...roomy, attempt: 1 });
      await first.write(said('one\n'));
      await first.release();
      const old = await new LogStore(store).open(id, { ...roomy, attempt: 1 });
      const next = await new LogStore(store).open(id, { ...roomy, attempt: 2 });
      await old.write(said('late\n'));
      await assert.rejects(old.end(), LogTakenOver);
      await next.end();
      assert.equal((await kept(logs, id)).toString(), 'one\n[reactord: attempt 2]\n');
    });
  });
}

/** Goes from left to right and takes the longest secret that begins in a place. */
function leftmostLongest(text: string, secrets: readonly string[]): string {
  let out = '';
  for (let at = 0; at < text.length; ) {
    const found = secrets.find((secret) => text.startsWith(secret, at));
    out += found === undefined ? text[at] : '[redacted]';
    at += found?.length ?? 1;
  }
  return out;
}

/** Lets a process of its own write the log, and kills it once so many bytes are durable. */
async function killWriter(ground: Ground, executionId: string, bytes: number): Promise<void> {
  const { database = '', dataFolder } = ground;
  const writing = spawn(process.execPath, [child, database, dataFolder, executionId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: writing.stdout }))
    if (Number(line) > bytes) break;
  const ended = once(writing, 'close');
  writing.kill('SIGKILL');
  await ended;
}

/** A server may still finish the last commit of a process that is dead: read until nothing moves while reading. */
function settledLog(logs: LogStore, id: string) {
  const counted = async () => (await logs.find(id))?.raw ?? { stdout: 0, stderr: 0 };
  return until('the last commit of the killed writer', async () => {
    const raw = await counted();
    const got = { stdout: await kept(logs, id, 'stdout'), stderr: await kept(logs, id, 'stderr') };
    const after = await counted();
    return raw.stdout === after.stdout && raw.stderr === after.stderr ? { raw, got } : undefined;
  });
}
