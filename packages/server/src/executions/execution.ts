import type { Selectable } from 'kysely';
import type { FinalState } from '../engines/engine.ts';
import type { ExecutionsTable } from '../store/reactor-tables.ts';

export const executionStatuses = ['SUBMITTED', 'RUNNING', 'COMPLETE', 'ERROR'] as const;

/**
 * SUBMITTED: the message is kept, and waits. RUNNING: its container has started. COMPLETE: the container ended,
 * whatever its exit code. ERROR: the platform could not run it, or it was dropped; `statusMessage` says why.
 */
type ExecutionStatus = (typeof executionStatuses)[number];

export const contentTypes = ['str', 'application/json', 'application/octet-stream'] as const;

/** What a message is to the container: a raw string, JSON, or bytes. */
export type ContentType = (typeof contentTypes)[number];

/** One message and the run that it leads to. */
export interface Execution {
  readonly id: string;
  readonly reactorId: string;
  readonly ownerId: string;
  /** The place in its reactor's order of receipt, from 1. */
  readonly seq: number;
  readonly status: ExecutionStatus;
  readonly statusMessage: string;
  /** Who posted the message. */
  readonly executorId: string;
  readonly executor: string;
  /** The application through which it was posted, where there was one. */
  readonly clientId: string | null;
  readonly contentType: ContentType;
  /** Bytes. */
  readonly messageSize: number;
  /** What the request set for this execution alone. */
  readonly environment: Readonly<Record<string, string>>;
  readonly attempt: number;
  /** Set by the claim. */
  readonly workerId: string | null;
  /** The spare container that the claim took, by name: it runs there, or in one that has its own name. */
  readonly spare: string | null;
  /** The reactor's revision that runs it; null before the claim. */
  readonly revision: number | null;
  /** Why it was asked to stop, in words for its record. */
  readonly haltReason: string | null;
  /** Times are in microseconds since the epoch. */
  readonly receivedAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly exitCode: number | null;
  /** Nanoseconds of CPU time. */
  readonly cpu: number;
  /** Bytes over the network and of block I/O. */
  readonly io: number;
  /** Whole seconds. */
  readonly runtime: number;
  readonly finalState: FinalState | null;
}

export type ExecutionRow = Selectable<ExecutionsTable>;

export function executionFrom(row: ExecutionRow): Execution {
  return {
    id: row.id,
    reactorId: row.reactor_id,
    ownerId: row.owner_id,
    seq: row.seq,
    status: row.status,
    statusMessage: row.status_message,
    executorId: row.executor_id,
    executor: row.executor,
    clientId: row.client_id,
    contentType: contentTypes.find((known) => known === row.content_type) ?? 'str',
    messageSize: row.message_size,
    environment: textsByName(row.environment),
    attempt: row.attempt,
    workerId: row.worker_id,
    spare: row.spare,
    revision: row.revision,
    haltReason: row.halt_reason,
    receivedAt: row.received_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    exitCode: row.exit_code,
    cpu: row.cpu,
    io: row.io,
    runtime: row.runtime,
    finalState: row.final_state === null ? null : finalStateFrom(row.final_state),
  };
}

export const isOver = ({ status }: Pick<Execution, 'status'>): boolean =>
  status === 'COMPLETE' || status === 'ERROR';

function textsByName(json: string): Readonly<Record<string, string>> {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) =>
      typeof entry === 'string' ? [[name, entry]] : [],
    ),
  );
}

/** Read back as it was written at the end of the execution. */
function finalStateFrom(json: string): FinalState {
  const state: FinalState = JSON.parse(json);
  return state;
}
