import type { ContainerEnd, FinalState } from '../engines/engine.ts';

export interface EndFacts {
  readonly end: ContainerEnd;
  /** Why the service asked it to stop; undefined when it did not. */
  readonly stopWords: string | undefined;
  readonly memoryBytes: number;
}

/** What became of a container, in words for a person; empty when it simply ended. */
export function wordsOf({ end, stopWords, memoryBytes }: EndFacts): string {
  if (stopWords !== undefined) return `stopped: ${stopWords}`;
  if (end.outOfMemory) {
    const limit = `over its ${shownBytes(memoryBytes)} memory limit`;
    // The container's main process may live on when the kernel chose one of its children.
    return end.exitCode === 0 ? `a process in it was killed: ${limit}` : `killed: ${limit}`;
  }
  return end.error;
}

export const withWords = (state: FinalState, words: string): FinalState => ({
  ...state,
  Error: words,
});

export const tooLong = (seconds: number): string => `ran longer than ${seconds} s`;

/** 67108864 → 64 MiB */
function shownBytes(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= size) return `${Math.round((bytes / size) * 10) / 10} ${unit}`;
  }
  return `${bytes} bytes`;
}
