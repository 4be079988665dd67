import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ContainerEnd, Usage } from '../engines/engine.ts';
import { executionEvent } from '../events/outbox.ts';
import type { AccessChanges } from '../identity/access-changes.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { StoreUnavailable, UnexpectedRows } from '../store/store-errors.ts';
import { releaseClaim } from './claim.ts';
import { withWords } from './end-words.ts';
import type { Execution } from './execution.ts';
import { microsecondsOf, nowInMicroseconds } from './execution-time.ts';
import type { ExecutionTokens } from './execution-token.ts';

/** How an execution came to its end, as its record will say. */
export interface Outcome {
  readonly status: 'COMPLETE' | 'ERROR';
  readonly statusMessage: string;
  readonly startedAt: number | null;
  readonly finishedAt: number;
  readonly exitCode: number | null;
  readonly cpu: number;
  readonly io: number;
  readonly runtime: number;
  readonly finalState: string | null;
  /** It failed, and the message is kept among the dead letters. */
  readonly isDead: boolean;
}

interface Claimed {
  readonly id: string;
  readonly workerId: string;
  readonly attempt: number;
}

type Written = Omit<Outcome, 'isDead'> & { readonly deadAt: number | null };

const writeOutcome = prepared((db, p: Written & Claimed) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      status: p.status,
      status_message: p.statusMessage,
      // Where nothing more exact is known, what was noted at the start stays.
      started_at: sql<number | null>`coalesce(cast(${p.startedAt} as bigint), started_at)`,
      finished_at: p.finishedAt,
      exit_code: p.exitCode,
      // Of all tries together.
      cpu: eb('cpu', '+', p.cpu),
      io: eb('io', '+', p.io),
      runtime: eb('runtime', '+', p.runtime),
      final_state: p.finalState,
      dead_at: p.deadAt,
      instance: null,
    }))
    .where('id', '=', p.id)
    .where('worker_id', '=', p.workerId)
    .where('attempt', '=', p.attempt)
    .where('status', 'in', [sql.lit<'SUBMITTED'>('SUBMITTED'), sql.lit<'RUNNING'>('RUNNING')]),
);

const addToTotals = prepared(
  (db, p: { reactorId: string; cpu: number; io: number; runtime: number }) =>
    db
      .updateTable('reactors')
      .set((eb) => ({
        settled: eb('settled', '+', 1),
        total_cpu: eb('total_cpu', '+', p.cpu),
        total_io: eb('total_io', '+', p.io),
        total_runtime: eb('total_runtime', '+', p.runtime),
      }))
      .where('id', '=', p.reactorId),
);

/** The container ended, whatever its exit code. */
export function completed(end: ContainerEnd, usage: Usage | undefined, words: string): Outcome {
  const finishedAt = microsecondsOf(end.finishedAt) ?? nowInMicroseconds();
  const startedAt = microsecondsOf(end.startedAt) ?? finishedAt;
  return {
    status: 'COMPLETE',
    statusMessage: words,
    startedAt,
    finishedAt,
    exitCode: end.exitCode,
    cpu: usage?.cpu ?? 0,
    io: usage?.io ?? 0,
    runtime: Math.floor((finishedAt - startedAt) / 1_000_000),
    finalState: JSON.stringify(withWords(end.finalState, words)),
    isDead: false,
  };
}

/** The platform could not run it; `words` say why. */
export function failed(execution: Execution, words: string): Outcome {
  return {
    status: 'ERROR',
    statusMessage: words,
    startedAt: execution.startedAt,
    finishedAt: nowInMicroseconds(),
    exitCode: null,
    cpu: 0,
    io: 0,
    runtime: 0,
    finalState: null,
    isDead: false,
  };
}

export interface SettleParts {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write'>;
  readonly tokens: ExecutionTokens;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/**
 * Writes the end of an execution, its share of the reactor's totals, its event and the end of its token, all or none. Everything
 * that the container wrote is durable before. False: it had been settled already.
 */
export function settle(
  parts: SettleParts,
  execution: Execution,
  outcome: Outcome,
  signal?: AbortSignal,
): Promise<boolean> {
  const { id, workerId, attempt, reactorId } = execution;
  const { isDead, ...written } = outcome;
  const { cpu, io, runtime, finishedAt, status, exitCode, statusMessage } = outcome;
  const deadAt = isDead ? finishedAt : null;
  return endClaim(parts, execution, signal, [
    expectRows(writeOutcome({ ...written, deadAt, id, attempt, workerId: workerId ?? '' }), 1),
    addToTotals({ reactorId, cpu, io, runtime }),
    ...executionEvent({
      reactorId,
      executionId: id,
      type: status === 'COMPLETE' ? 'EXECUTION_COMPLETE' : 'EXECUTION_ERROR',
      status,
      exitCode,
      statusMessage,
    }),
  ]);
}

/** Gives the claim back: the container never started. The token that went with it ends. */
export function release(
  parts: SettleParts,
  execution: Execution,
  signal?: AbortSignal,
): Promise<boolean> {
  const { id, workerId } = execution;
  return endClaim(parts, execution, signal, [
    expectRows(releaseClaim({ id, workerId: workerId ?? '' }), 1),
  ]);
}

/** Ends the claim and the token with it. Tries until the store answers: nobody else will write it. */
export async function endClaim(
  { changes, tokens }: SettleParts,
  execution: Execution,
  signal: AbortSignal | undefined,
  unit: readonly Statement[],
): Promise<boolean> {
  const { change, statement } = tokens.end(execution);
  for (let wait = firstPauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
    try {
      await changes.write([change], ...unit, statement);
      return true;
    } catch (error) {
      // Also when the answer to the commit that did it was lost.
      if (error instanceof UnexpectedRows) return false;
      if (!(error instanceof StoreUnavailable) || signal?.aborted === true) throw error;
    }
    await pause(wait, undefined, { ...(signal !== undefined && { signal }), ref: false });
  }
}
