import type { OutputStream } from '../engines/engine.ts';
import type { LogPart } from './log-lines.ts';
import type { KeptLog } from './log-rows.ts';
import type { LogStore } from './log-store.ts';

const newline = 10;

/** The line that says what is missing at the end of a capped log; undefined when nothing is. */
export async function droppedNotice(
  logs: Pick<LogStore, 'read' | 'tail'>,
  executionId: string,
  log: KeptLog,
  stream: OutputStream | undefined,
): Promise<string | undefined> {
  const { stdout, stderr } = log.dropped;
  const dropped = stream === undefined ? stdout + stderr : log.dropped[stream];
  if (dropped === 0) return undefined;
  // A line of its own, also where the limit cut one in two.
  let last: LogPart | undefined;
  const lastLine = await logs.tail(executionId, 1, stream);
  for await (const part of logs.read(executionId, lastLine, log.size))
    if (stream === undefined || part.stream === stream) last = part;
  const cut = last !== undefined && last.bytes.at(-1) !== newline;
  return `${cut ? '\n' : ''}[reactord: ${dropped} more bytes were written and not kept; the limit of a log is ${log.limit} bytes]\n`;
}
