import type { OutputStream } from '../engines/engine.ts';
import type { Store } from '../store/store.ts';
import { type LogChunk, linesOf, partsOf } from './log-lines.ts';

/** How many chunks are counted over at a time. Their bodies are not read. */
const chunksAtOnce = 500;
const newline = 10;

/**
 * The place from which on a log has this many lines, of one stream or of both. An unterminated last line is one. Goes
 * backwards over the counts of the chunks, and reads only the last chunk and the one in which the place lies.
 */
export async function findTail(
  store: Store,
  executionId: string,
  lines: number,
  stream: OutputStream | undefined,
): Promise<number> {
  let wanted = lines;
  let last: number | undefined;
  for await (const counted of backwards(store, executionId, stream)) {
    const { start, size, ends } = counted;
    if (last === undefined) {
      const bytes = ofStream(await bodyOf(store, executionId, start), stream);
      const lastByte = bytes.at(-1)?.bytes.at(-1);
      if (lastByte === undefined) continue;
      last = start + size;
      if (lines === 0) return last;
      // The line end that the log ends with begins no further line.
      if (lastByte === newline) wanted += 1;
    }
    if (ends < wanted) {
      wanted -= ends;
      continue;
    }
    const places = ofStream(await bodyOf(store, executionId, start), stream)
      .flatMap((part) => [...linesOf(part)])
      .filter(({ bytes }) => bytes.at(-1) === newline)
      .map(({ end }) => end);
    return places.at(-wanted) ?? start;
  }
  return 0;
}

interface Counted {
  readonly start: number;
  readonly size: number;
  /** Line ends of the stream. */
  readonly ends: number;
}

async function* backwards(
  store: Store,
  executionId: string,
  stream: OutputStream | undefined,
): AsyncGenerator<Counted> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const chunks = await store.read
      .selectFrom('log_chunks')
      .select(['start', 'size', 'stdout_lines', 'stderr_lines'])
      .where('execution_id', '=', executionId)
      .where('start', '<', before)
      .orderBy('start', 'desc')
      .limit(chunksAtOnce)
      .execute();
    for (const { start, size, stdout_lines, stderr_lines } of chunks) {
      const ends =
        (stream === 'stderr' ? 0 : stdout_lines) + (stream === 'stdout' ? 0 : stderr_lines);
      yield { start, size, ends };
      before = start;
    }
    if (chunks.length < chunksAtOnce) return;
  }
}

async function bodyOf(store: Store, executionId: string, start: number): Promise<LogChunk> {
  const chunk = await store.read
    .selectFrom('log_chunks')
    .select(['start', 'parts', 'body'])
    .where('execution_id', '=', executionId)
    .where('start', '=', start)
    .executeTakeFirst();
  return chunk ?? { start, parts: '[]', body: new Uint8Array() };
}

function ofStream(chunk: LogChunk, stream: OutputStream | undefined) {
  return [...partsOf(chunk)].filter((part) => stream === undefined || part.stream === stream);
}
