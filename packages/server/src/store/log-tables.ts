import type { Generated } from 'kysely';

/** What is known of the output of one execution. It changes together with the chunks, in the same unit. */
export interface LogsTable {
  execution_id: string;
  /** Bytes that the container wrote and that are settled here, kept or dropped. */
  raw_stdout: number;
  raw_stderr: number;
  /** Of these, the bytes that were over the limit. */
  dropped_stdout: number;
  dropped_stderr: number;
  /** Bytes in the chunks. */
  size: number;
  /** Where the limit was when something was dropped. */
  size_limit: number;
  started_at: number;
  /** Null while the container may still write. */
  expires_at: number | null;
  /** Which try of the execution writes it; `raw` and `dropped` count from its first byte, except that what is capped stays so. */
  attempt: Generated<number>;
}

/** A piece of the output of one execution, both streams in the order in which they were written. */
export interface LogChunksTable {
  execution_id: string;
  /** The place of its first byte in the log. */
  start: number;
  size: number;
  /** Line ends, by stream, so that the last lines are found without reading everything before them. */
  stdout_lines: number;
  stderr_lines: number;
  /** A JSON array of triples: stream (0 stdout, 1 stderr), ms since the epoch, bytes. */
  parts: string;
  body: Uint8Array;
}
