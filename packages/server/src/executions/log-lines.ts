import type { OutputStream } from '../engines/engine.ts';

/** Bytes of one stream that were written at one time. */
export interface LogPart {
  readonly stream: OutputStream;
  /** Ms since the epoch. */
  readonly time: number;
  readonly bytes: Uint8Array;
  /** The place behind its last byte in the log: who has read up to here goes on from here. */
  readonly end: number;
}

/** A chunk as the log database keeps it. */
export interface LogChunk {
  readonly start: number;
  readonly parts: string;
  readonly body: Uint8Array;
}

const newline = 10;

/** How many bytes at the end are the beginning of a UTF-8 character whose rest has not come. */
export function unfinishedCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthOfCharacter(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOfCharacter(lead: number): number {
  if (lead >= 0xf8) return 1;
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

/** As many of the bytes as fit without cutting a character in two. */
export function fitting(bytes: Uint8Array, room: number): Uint8Array {
  if (bytes.length <= room) return bytes;
  const head = bytes.subarray(0, Math.max(0, room));
  return head.subarray(0, head.length - unfinishedCharacter(head));
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

/** The parts of a chunk between two places of the log, in the order in which they were written. */
export function* partsOf(
  chunk: LogChunk,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): Generator<LogPart> {
  const triples: number[] = JSON.parse(chunk.parts);
  let at = 0;
  for (let place = 0; place < triples.length; place += 3) {
    const [code, time = 0, length = 0] = triples.slice(place, place + 3);
    const first = Math.max(at, from - chunk.start);
    const end = Math.min(at + length, to - chunk.start);
    at += length;
    if (first >= end) continue;
    const bytes = chunk.body.subarray(first, end);
    yield { stream: streamOf(code), time, bytes, end: chunk.start + end };
  }
}

/** Cuts a part behind each line end. */
export function* linesOf(part: LogPart): Generator<LogPart> {
  const first = part.end - part.bytes.length;
  let from = 0;
  while (from < part.bytes.length) {
    const at = part.bytes.indexOf(newline, from);
    const to = at === -1 ? part.bytes.length : at + 1;
    yield { ...part, bytes: part.bytes.subarray(from, to), end: first + to };
    from = to;
  }
}

export const streamCode = (stream: OutputStream): number => (stream === 'stdout' ? 0 : 1);
const streamOf = (code: number | undefined): OutputStream => (code === 0 ? 'stdout' : 'stderr');
