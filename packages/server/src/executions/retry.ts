import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { expectRows, prepared } from '../store/statement.ts';
import type { Execution } from './execution.ts';
import { nowInMicroseconds } from './execution-time.ts';
import { delayedFrom } from './places.ts';
import { endClaim, type Outcome, type SettleParts } from './settle.ts';

/** When a failed execution is tried again, and where in the order. */
export interface RetryPlan {
  /** Microseconds. */
  readonly dueAt: number;
  /**
   * Where executions run strictly one after the other, it keeps its place and those behind it wait. Where several run
   * at once, only their first starts are in order: it makes way, and takes a new place when its time has come.
   */
  readonly keepsPlace: boolean;
}

type RetrySettings = Pick<Config, 'retry_pause' | 'retry_longest_pause'>;

/** Undefined: it has been tried often enough, or its reactor is going. */
export function planRetry(
  execution: Pick<Execution, 'attempt'>,
  reactor: Reactor | undefined,
  settings: RetrySettings,
): RetryPlan | undefined {
  if (reactor === undefined || reactor.status === 'SHUTTING_DOWN') return undefined;
  if (execution.attempt > reactor.retries) return undefined;
  const seconds = pauseBefore(execution.attempt, settings, Math.random());
  return {
    dueAt: nowInMicroseconds() + Math.round(seconds * 1_000_000),
    keepsPlace: !reactor.stateless || reactor.maxWorkers === 1,
  };
}

/** Twice as long each time, less up to a half by chance: what failed together does not come back together. */
export function pauseBefore(
  failedTries: number,
  { retry_pause, retry_longest_pause }: RetrySettings,
  chance: number,
): number {
  const full = Math.min(retry_pause * 2 ** Math.min(failedTries - 1, 30), retry_longest_pause);
  return full * (0.5 + chance / 2);
}

interface Retried {
  readonly id: string;
  readonly reactorId: string;
  readonly workerId: string;
  readonly attempt: number;
  readonly dueAt: number;
  readonly message: string;
  readonly cpu: number;
  readonly io: number;
  readonly runtime: number;
}

const backToWaiting = (p: Retried) => ({
  status: sql.lit<'SUBMITTED'>('SUBMITTED'),
  status_message: p.message,
  attempt: sql<number>`attempt + 1`,
  worker_id: null,
  instance: null,
  claimed_at: null,
  revision: null,
  started_at: null,
  due_at: p.dueAt,
  cpu: sql<number>`cpu + ${p.cpu}`,
  io: sql<number>`io + ${p.io}`,
  runtime: sql<number>`runtime + ${p.runtime}`,
});

const claimed = [sql.lit<'SUBMITTED'>('SUBMITTED'), sql.lit<'RUNNING'>('RUNNING')];

const waitInPlace = prepared((db, p: Retried) =>
  db
    .updateTable('executions')
    .set(backToWaiting(p))
    .where('id', '=', p.id)
    .where('worker_id', '=', p.workerId)
    .where('attempt', '=', p.attempt)
    .where('halt_reason', 'is', null)
    .where('status', 'in', claimed),
);

/** The statement before it in the unit has made the number. */
const waitAside = prepared((db, p: Retried) =>
  db
    .updateTable('executions')
    .set((eb) => ({
      ...backToWaiting(p),
      seq: eb
        .selectFrom('reactors')
        .select(sql<number>`${sql.lit(delayedFrom)} + delayed_seq`.as('seq'))
        .where('reactors.id', '=', p.reactorId),
    }))
    .where('id', '=', p.id)
    .where('worker_id', '=', p.workerId)
    .where('attempt', '=', p.attempt)
    .where('halt_reason', 'is', null)
    .where('status', 'in', claimed),
);

type Used = Pick<Retried, 'reactorId' | 'cpu' | 'io' | 'runtime'>;

const addUsed = prepared((db, p: Used) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      total_cpu: eb('total_cpu', '+', p.cpu),
      total_io: eb('total_io', '+', p.io),
      total_runtime: eb('total_runtime', '+', p.runtime),
    }))
    .where('id', '=', p.reactorId),
);

/** Its place in the order is done with; it waits among those that have none. */
const leavePlace = prepared((db, p: Used) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      settled: eb('settled', '+', 1),
      delayed: eb('delayed', '+', 1),
      delayed_seq: eb('delayed_seq', '+', 1),
      total_cpu: eb('total_cpu', '+', p.cpu),
      total_io: eb('total_io', '+', p.io),
      total_runtime: eb('total_runtime', '+', p.runtime),
    }))
    .where('id', '=', p.reactorId),
);

/** Puts a failed execution back to wait for its next try. False: somebody has halted or settled it meanwhile. */
export function putBack(
  parts: SettleParts,
  execution: Execution,
  outcome: Outcome,
  { dueAt, keepsPlace }: RetryPlan,
  signal?: AbortSignal,
): Promise<boolean> {
  const { id, reactorId, workerId, attempt } = execution;
  const { cpu, io, runtime } = outcome;
  const used = { reactorId, cpu, io, runtime };
  const retried = {
    ...used,
    id,
    workerId: workerId ?? '',
    attempt,
    dueAt,
    message: `attempt ${attempt} failed (${reasonOf(outcome)}); it is tried again`,
  };
  const unit = keepsPlace
    ? [addUsed(used), expectRows(waitInPlace(retried), 1)]
    : [expectRows(leavePlace(used), 1), expectRows(waitAside(retried), 1)];
  return endClaim(parts, execution, signal, unit);
}

/** Why an execution failed, in few words. */
export function reasonOf({
  statusMessage,
  exitCode,
}: Pick<Outcome, 'statusMessage' | 'exitCode'>): string {
  if (statusMessage !== '') return statusMessage;
  return exitCode === null ? 'it could not be run' : `exit code ${exitCode}`;
}
