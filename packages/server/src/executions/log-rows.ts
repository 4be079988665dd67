import type { Selectable } from 'kysely';
import type { OutputStream } from '../engines/engine.ts';
import type { LogsTable } from '../store/log-tables.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { OpenChunk } from './log-chunk.ts';
import type { LogChunk } from './log-lines.ts';

export type PerStream = Record<OutputStream, number>;

/** How far a log has come. */
export interface LogState {
  /** Bytes that the container wrote and that are settled, kept or dropped. */
  readonly raw: Readonly<PerStream>;
  readonly dropped: Readonly<PerStream>;
  /** Bytes that are kept. */
  readonly size: number;
}

export interface KeptLog extends LogState {
  readonly attempt: number;
  readonly limit: number;
  readonly startedAt: number;
}

type LogRow = Selectable<LogsTable>;

const insertLog = prepared((db, p: LogRow) =>
  db
    .insertInto('logs')
    .values({
      execution_id: p.execution_id,
      raw_stdout: p.raw_stdout,
      raw_stderr: p.raw_stderr,
      dropped_stdout: p.dropped_stdout,
      dropped_stderr: p.dropped_stderr,
      size: p.size,
      size_limit: p.size_limit,
      started_at: p.started_at,
      expires_at: p.expires_at,
      attempt: p.attempt,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

interface Advance extends Omit<LogRow, 'started_at'> {
  was_attempt: number;
  was_stdout: number;
  was_stderr: number;
}

const advanceLog = prepared((db, p: Advance) =>
  db
    .updateTable('logs')
    .set({
      raw_stdout: p.raw_stdout,
      raw_stderr: p.raw_stderr,
      dropped_stdout: p.dropped_stdout,
      dropped_stderr: p.dropped_stderr,
      size: p.size,
      size_limit: p.size_limit,
      expires_at: p.expires_at,
      attempt: p.attempt,
    })
    .where('execution_id', '=', p.execution_id)
    .where('raw_stdout', '=', p.was_stdout)
    .where('raw_stderr', '=', p.was_stderr)
    .where('attempt', '=', p.was_attempt),
);

type ChunkRow = ReturnType<OpenChunk['row']> & { execution_id: string };

/** A chunk that has grown takes the place of its smaller self. */
const putChunk = prepared((db, p: ChunkRow) =>
  db
    .insertInto('log_chunks')
    .values({
      execution_id: p.execution_id,
      start: p.start,
      size: p.size,
      stdout_lines: p.stdout_lines,
      stderr_lines: p.stderr_lines,
      parts: p.parts,
      body: p.body,
    })
    .onConflict((conflict) =>
      conflict.columns(['execution_id', 'start']).doUpdateSet(({ ref }) => ({
        size: ref('excluded.size'),
        stdout_lines: ref('excluded.stdout_lines'),
        stderr_lines: ref('excluded.stderr_lines'),
        parts: ref('excluded.parts'),
        body: ref('excluded.body'),
      })),
    ),
);

export interface LogStep {
  readonly executionId: string;
  /** Undefined: nothing of this log has been kept so far. */
  readonly from: LogState | undefined;
  readonly to: LogState;
  readonly chunk: ReturnType<OpenChunk['row']> | undefined;
  readonly limit: number;
  readonly expiresAt: number | null;
  readonly attempt: number;
  /** The try that wrote before; the same unless said. */
  readonly fromAttempt?: number;
}

/**
 * Brings a log from one state to the next, with the chunk that makes the difference: all of it or nothing. It is
 * undone when the log is in another state, since then somebody else is writing it.
 */
export function stepLog(step: LogStep): readonly Statement[] {
  const { executionId, from, to, chunk, limit, expiresAt, attempt, fromAttempt = attempt } = step;
  const row = {
    execution_id: executionId,
    raw_stdout: to.raw.stdout,
    raw_stderr: to.raw.stderr,
    dropped_stdout: to.dropped.stdout,
    dropped_stderr: to.dropped.stderr,
    size: to.size,
    size_limit: limit,
    expires_at: expiresAt,
    attempt,
  };
  const head =
    from === undefined
      ? insertLog({ ...row, started_at: Date.now() })
      : advanceLog({
          ...row,
          was_stdout: from.raw.stdout,
          was_stderr: from.raw.stderr,
          was_attempt: fromAttempt,
        });
  const body = chunk === undefined ? [] : [putChunk({ ...chunk, execution_id: executionId })];
  return [expectRows(head, 1), ...body];
}

export async function findLog(store: Store, executionId: string): Promise<KeptLog | undefined> {
  const row = await store.read
    .selectFrom('logs')
    .selectAll()
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    raw: { stdout: row.raw_stdout, stderr: row.raw_stderr },
    dropped: { stdout: row.dropped_stdout, stderr: row.dropped_stderr },
    size: row.size,
    attempt: row.attempt,
    limit: row.size_limit,
    startedAt: row.started_at,
  };
}

/** The chunk in which a place of the log lies; the last one for a place at the end. */
export function findChunk(
  store: Store,
  executionId: string,
  place: number,
): Promise<LogChunk | undefined> {
  return store.read
    .selectFrom('log_chunks')
    .select(['start', 'parts', 'body'])
    .where('execution_id', '=', executionId)
    .where('start', '<=', place)
    .orderBy('start', 'desc')
    .limit(1)
    .executeTakeFirst();
}
