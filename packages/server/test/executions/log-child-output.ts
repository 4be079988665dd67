import type { OutputChunk } from '../../src/engines/engine.ts';

/** What the container of the crash test writes: the same each time, and long. */
export function* childOutput(): Generator<OutputChunk> {
  for (let line = 0; line < 40_000; line += 1) {
    const text = `${line} ${'é世🚀x'.repeat(line % 17)}\n`;
    yield { stream: line % 3 === 0 ? 'stderr' : 'stdout', time: line, bytes: Buffer.from(text) };
  }
}
