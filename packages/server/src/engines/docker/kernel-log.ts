import { closeSync, constants, openSync, readSync } from 'node:fs';

interface Kill {
  /** Kills are numbered as they are read, from 1. */
  readonly number: number;
  /** The control group that was out of memory, where the kernel named it. */
  readonly group: string | undefined;
}

/** More than the kernel's own ring holds. */
const remembered = 10_000;

/**
 * What the kernel's log tells of processes killed for want of memory. The kernel names the control group of ten such
 * kills in five seconds and keeps silent about that of the others, but it tells of every kill.
 *
 * Nothing is known where the log cannot be read.
 */
export class KernelLog {
  readonly #kills: Kill[] = [];
  readonly #record = Buffer.alloc(8192);
  #log: number | undefined;
  #isOpened = false;
  #count = 0;
  #namedProcess: string | undefined;

  /** How many kills there have been until now: those of a container made now have higher numbers. */
  killsSoFar(): number {
    this.#readOn();
    return this.#count;
  }

  /** Whether there was a kill in this group, or below it, or one whose group is unknown, after so many kills. */
  tellsOfKill(group: string, after: number): boolean {
    this.#readOn();
    const step = `/${group.replace(/^\//, '')}/`;
    return this.#kills.some(
      (kill) => kill.number > after && (kill.group === undefined || kill.group.includes(step)),
    );
  }

  close(): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }

  #readOn(): void {
    this.#open();
    if (this.#log === undefined) return;
    for (;;) {
      const length = readRecord(this.#log, this.#record);
      if (length === 0) break;
      this.take(this.#record.toString('latin1', 0, length));
    }
    if (this.#kills.length > remembered) this.#kills.splice(0, this.#kills.length - remembered);
  }

  /** One record of the log. */
  take(record: string): void {
    const named = /oom-kill:.*oom_memcg=([^,]*),.*\bpid=(\d+)/.exec(record);
    if (named) {
      this.#namedProcess = named[2];
      this.#kills.push({ number: ++this.#count, group: `${named[1]}/` });
      return;
    }
    const killed = /Memory cgroup out of memory: Killed process (\d+)/.exec(record);
    // The line that follows a kill whose group was named is about that same kill.
    if (killed && killed[1] !== this.#namedProcess)
      this.#kills.push({ number: ++this.#count, group: undefined });
  }

  #open(): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    try {
      this.#log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK);
    } catch {
      // Not allowed, or not Linux.
    }
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
