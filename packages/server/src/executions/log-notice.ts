import type { OutputStream } from '../engines/engine.ts';
import type { KeptLog } from './log-rows.ts';

/** The line that says what is missing at the end of a capped log; undefined when nothing is. */
export function droppedNotice(log: KeptLog, stream: OutputStream | undefined): string | undefined {
  const { stdout, stderr } = log.dropped;
  const dropped = stream === undefined ? stdout + stderr : log.dropped[stream];
  if (dropped === 0) return undefined;
  return `[reactord: ${dropped} more bytes were written and not kept; the limit of a log is ${log.limit} bytes]\n`;
}
