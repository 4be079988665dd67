import fc from 'fast-check';
import type { OutputChunk, OutputStream } from '../../src/engines/engine.ts';
import type { LogPart } from '../../src/executions/log-lines.ts';
import type { LogStore, LogWriter } from '../../src/executions/log-store.ts';

/** What the suites of the logs have in common: outputs of containers, and readings of logs. */

export const roomy = { limitBytes: 64 * 1024 * 1024, secrets: [], keepSeconds: 3600 };

export const streams: readonly OutputStream[] = ['stdout', 'stderr'];

/** Bytes of every kind: text, characters of two to four bytes whole and broken, CR, NUL, line ends, long runs. */
const bytes = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 60 }).map((raw) => Buffer.from(raw)),
  fc
    .constantFrom('\n', '\r\n', '\r', '\0', 'é', '世', '🚀', 'line\n', '')
    .map((t) => Buffer.from(t)),
  fc.constantFrom(0xc3, 0xe4, 0xf0, 0x9f, 0x80).map((byte) => Buffer.from([byte])),
  fc.integer({ min: 1, max: 150_000 }).map((length) => Buffer.alloc(length, 'abcdefgh\n')),
);

const stream = fc.constantFrom<OutputStream>('stdout', 'stderr');

/** Any output, in any pieces. */
export const anyOutput: fc.Arbitrary<OutputChunk[]> = fc.array(
  fc.record({ stream, time: fc.integer({ min: 1, max: 2_000_000_000_000 }), bytes }),
  { maxLength: 25 },
);

/** Only characters of one byte, of which nothing is ever held back. */
export const plainOutput: fc.Arbitrary<OutputChunk[]> = fc.array(
  fc.record({
    stream,
    time: fc.integer({ min: 1, max: 5 }),
    bytes: fc
      .string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\r', '\0'), maxLength: 30 })
      .map((text) => Buffer.from(text)),
  }),
  { maxLength: 40 },
);

/** A text in which secrets and beginnings of them come up, cut anywhere. */
export function outputWith(secrets: readonly string[]): fc.Arbitrary<OutputChunk[]> {
  const beginnings = secrets.flatMap((secret) => [secret.slice(0, 1), secret.slice(0, -1)]);
  const words = fc.constantFrom(...secrets, ...secrets, ...beginnings, 'x', '\n', 'é');
  const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 30 });
  return fc
    .record({ stdout: fc.array(words, { maxLength: 20 }), stderr: fc.array(words), cuts })
    .map((made) => {
      const rest = {
        stdout: Buffer.from(made.stdout.join('')),
        stderr: Buffer.from(made.stderr.join('')),
      };
      const chunks: OutputChunk[] = [];
      for (let turn = 0; rest.stdout.length + rest.stderr.length > 0; turn += 1) {
        const which = streams[turn % 2] ?? 'stdout';
        const cut = made.cuts[turn % made.cuts.length] ?? 1;
        chunks.push({ stream: which, time: turn, bytes: rest[which].subarray(0, cut) });
        rest[which] = rest[which].subarray(cut);
      }
      return chunks;
    });
}

export function written(output: Iterable<OutputChunk>, which?: OutputStream): Buffer {
  return Buffer.concat(
    [...output]
      .filter((chunk) => which === undefined || chunk.stream === which)
      .map((c) => c.bytes),
  );
}

export async function partsOfLog(
  logs: LogStore,
  executionId: string,
  from = 0,
): Promise<LogPart[]> {
  const log = await logs.find(executionId);
  const parts: LogPart[] = [];
  for await (const part of logs.read(executionId, from, log?.size ?? 0)) parts.push(part);
  return parts;
}

export async function kept(
  logs: LogStore,
  executionId: string,
  which?: OutputStream,
  from = 0,
): Promise<Buffer> {
  const parts = await partsOfLog(logs, executionId, from);
  return Buffer.concat(
    parts.filter((part) => which === undefined || part.stream === which).map((p) => p.bytes),
  );
}

export async function writeAll(writer: LogWriter, output: Iterable<OutputChunk>): Promise<void> {
  for (const chunk of output) await writer.write(chunk);
}

/** What a service that comes back writes: everything from the first byte, without what is stored. */
export async function writeBeyondStored(
  writer: LogWriter,
  output: Iterable<OutputChunk>,
): Promise<void> {
  const left = { ...writer.stored };
  for (const chunk of output) {
    const skipped = Math.min(left[chunk.stream], chunk.bytes.length);
    left[chunk.stream] -= skipped;
    if (skipped < chunk.bytes.length)
      await writer.write({ ...chunk, bytes: chunk.bytes.subarray(skipped) });
  }
}

export const said = (text: string, which: OutputStream = 'stdout', time = 1): OutputChunk => ({
  stream: which,
  time,
  bytes: Buffer.from(text),
});
