import { closeSync, constants, openSync, readSync } from 'node:fs';

/**
 * Whether the kernel's log tells of a process killed for want of memory in this control group or below it. The log is a
 * ring of some thousand records; false as well where it cannot be read.
 */
export function kernelLogTellsOfKill(cgroup: string): boolean {
  let log: number;
  try {
    log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  const record = Buffer.alloc(8192);
  try {
    for (;;) {
      const length = readRecord(log, record);
      if (length === 0) return false;
      const text = record.toString('latin1', 0, length);
      if (text.includes('oom-kill:') && text.includes(`oom_memcg=${cgroup}/`)) return true;
    }
  } finally {
    closeSync(log);
  }
}

/** 0 at the end. Each reading gives one record. */
function readRecord(log: number, into: Buffer): number {
  for (;;) {
    try {
      return readSync(log, into);
    } catch (error) {
      // The record was overwritten meanwhile; the next reading goes on after the gap.
      if (error instanceof Error && 'code' in error && error.code === 'EPIPE') continue;
      return 0;
    }
  }
}
