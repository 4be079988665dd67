import { type Kysely, type RawBuilder, sql } from 'kysely';
import { fail } from '../errors.ts';
import { risingId } from '../ids.ts';
import type { Schema } from '../store/schema.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { NotNullViolation, UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import { nowInMicroseconds } from './execution-time.ts';
import type { Message } from './message.ts';

export interface Admission {
  readonly reactorId: string;
  readonly executor: {
    readonly userId: string;
    readonly username: string;
    readonly clientId: string | null;
  };
  readonly message: Pick<Message, 'contentType' | 'body'>;
  /** What the request sets for this execution alone. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What came of messages that were accepted with more than a plain one has. */
export interface Admitted {
  /** In the order of the messages. */
  readonly executionIds: readonly string[];
  /** It is the reply to an earlier request with the same key. */
  readonly repeated: boolean;
  /** Microseconds; undefined: at once. */
  readonly dueAt: number | undefined;
}

/** The next place in the order of receipt, as long as the reactor takes messages at all. */
const takePlace = prepared((db, p: { reactorId: string; size: number }) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      last_seq: eb('last_seq', '+', 1),
      total_executions: eb('total_executions', '+', 1),
      stored_bytes: eb('stored_bytes', '+', p.size),
    }))
    .where('id', '=', p.reactorId)
    .where('status', '!=', sql.lit('SHUTTING_DOWN')),
);

export interface NewExecution {
  readonly id: string;
  readonly reactorId: string;
  readonly executorId: string;
  readonly executor: string;
  readonly clientId: string | null;
  readonly contentType: string;
  readonly size: number;
  readonly environment: string;
  readonly receivedAt: number;
}

/**
 * The execution of a message, at the place (and not before the time) that its reactor has for it. As one row of values: for
 * `insert … select`, which might be many, SQLite copies each page before it writes to it.
 */
export function insertAt(
  db: Kysely<Schema>,
  p: NewExecution,
  seq: RawBuilder<number>,
  dueAt: RawBuilder<number | null>,
) {
  const ofReactor = <Value>(value: RawBuilder<Value>) =>
    sql<Value>`(select ${value} from reactors where id = ${p.reactorId})`;
  return db.insertInto('executions').values({
    id: p.id,
    reactor_id: p.reactorId,
    owner_id: ofReactor(sql.ref<string>('owner_id')),
    seq: ofReactor(seq),
    status: sql.lit('SUBMITTED'),
    executor_id: p.executorId,
    executor: p.executor,
    client_id: p.clientId,
    content_type: p.contentType,
    message_size: p.size,
    environment: p.environment,
    received_at: p.receivedAt,
    due_at: dueAt,
  });
}

const insertExecution = prepared((db, p: NewExecution) =>
  insertAt(db, p, sql.ref<number>('last_seq'), sql<null>`cast(null as bigint)`),
);

export const insertMessage = prepared((db, p: { executionId: string; body: Uint8Array }) =>
  db.insertInto('messages').values({ execution_id: p.executionId, body: p.body }),
);

/**
 * Accepts a message: one unit takes the next place of the reactor and keeps the execution and the message. When it
 * resolves, the execution will happen, also across a crash. What stands `beside` it is part of the same unit.
 */
export async function admit(
  store: Store,
  admission: Admission,
  ...beside: readonly Statement[]
): Promise<string> {
  const { reactorId, executor, message, environment } = admission;
  const id = risingId();
  try {
    await store.write(
      expectRows(takePlace({ reactorId, size: message.body.byteLength }), 1),
      insertExecution({
        id,
        reactorId,
        executorId: executor.userId,
        executor: executor.username,
        clientId: executor.clientId,
        contentType: message.contentType,
        size: message.body.byteLength,
        environment: textOf(environment),
        receivedAt: nowInMicroseconds(),
      }),
      insertMessage({ executionId: id, body: message.body }),
      ...beside,
    );
  } catch (error) {
    // One of those beside it met something else than its caller relied on.
    if (error instanceof UnexpectedRows && error.statement > 0) throw error;
    if (isWithoutPlace(error)) {
      throw fail('unknown_resource', { kind: 'reactor', name: reactorId });
    }
    throw error;
  }
  return id;
}

/** Hardly any message sets something. */
function textOf(environment: Admission['environment']): string {
  for (const _ in environment) return JSON.stringify(environment);
  return '{}';
}

/** Without a place there is an execution at none, or at the place of another. */
export const isWithoutPlace = (error: unknown): boolean =>
  error instanceof UnexpectedRows ||
  error instanceof NotNullViolation ||
  (error instanceof UniqueViolation && error.table === 'executions');
