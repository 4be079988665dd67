import type { OutputStream } from '../engines/engine.ts';
import { droppedNotice } from './log-notice.ts';
import type { LogStore } from './log-store.ts';

export interface LogWish {
  /** Undefined: both, in the order in which they were written. */
  readonly stream: OutputStream | undefined;
  /** Only so many of the last lines. */
  readonly tail: number | undefined;
}

/**
 * A log as text, as it stands now, piece by piece. What is not UTF-8 in it becomes U+FFFD. Pieces are whole characters:
 * the writer never cuts one in two.
 */
export async function* logText(
  logs: LogStore,
  executionId: string,
  { stream, tail }: LogWish,
): AsyncGenerator<string> {
  const log = await logs.find(executionId);
  if (log === undefined) return;
  const from = tail === undefined ? 0 : await logs.tail(executionId, tail, stream);
  for await (const part of logs.read(executionId, from, log.size)) {
    if (stream !== undefined && part.stream !== stream) continue;
    yield textOf(part.bytes);
  }
  const notice = await droppedNotice(logs, executionId, log, stream);
  if (notice !== undefined) yield notice;
}

export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

/** The JSON of a value in which one text is too large to be held: it stands where `place` is, written as it comes. */
export async function* jsonAround(
  json: string,
  place: string,
  text: AsyncIterable<string>,
): AsyncGenerator<Buffer> {
  const [head = '', rest = ''] = json.split(JSON.stringify(place), 2);
  yield Buffer.from(`${head}"`);
  for await (const piece of text) yield Buffer.from(JSON.stringify(piece).slice(1, -1));
  yield Buffer.from(`"${rest}`);
}
