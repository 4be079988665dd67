import { sql } from 'kysely';
import { fail } from '../errors.ts';
import { risingId } from '../ids.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { ForeignKeyViolation, UnexpectedRows } from '../store/store-errors.ts';
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

/** The next place in the order of receipt, as long as the reactor takes messages at all. */
const takePlace = prepared((db, p: { reactorId: string }) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      last_seq: eb('last_seq', '+', 1),
      total_executions: eb('total_executions', '+', 1),
    }))
    .where('id', '=', p.reactorId)
    .where('status', '!=', sql.lit('SHUTTING_DOWN')),
);

interface NewExecution {
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

const insertExecution = prepared((db, p: NewExecution) =>
  db
    .insertInto('executions')
    .columns([
      'id',
      'reactor_id',
      'owner_id',
      'seq',
      'status',
      'executor_id',
      'executor',
      'client_id',
      'content_type',
      'message_size',
      'environment',
      'received_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom('reactors')
        .select([
          sql<string>`${p.id}`.as('id'),
          'reactors.id as reactor_id',
          'owner_id',
          'last_seq',
          sql.lit('SUBMITTED').as('status'),
          sql<string>`${p.executorId}`.as('executor_id'),
          sql<string>`${p.executor}`.as('executor'),
          sql<string | null>`${p.clientId}`.as('client_id'),
          sql<string>`${p.contentType}`.as('content_type'),
          sql<number>`cast(${p.size} as bigint)`.as('message_size'),
          sql<string>`${p.environment}`.as('environment'),
          sql<number>`cast(${p.receivedAt} as bigint)`.as('received_at'),
        ])
        .where('reactors.id', '=', p.reactorId),
    ),
);

const insertMessage = prepared((db, p: { executionId: string; body: Uint8Array }) =>
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
      expectRows(takePlace({ reactorId }), 1),
      insertExecution({
        id,
        reactorId,
        executorId: executor.userId,
        executor: executor.username,
        clientId: executor.clientId,
        contentType: message.contentType,
        size: message.body.byteLength,
        environment: JSON.stringify(environment),
        receivedAt: nowInMicroseconds(),
      }),
      insertMessage({ executionId: id, body: message.body }),
      ...beside,
    );
  } catch (error) {
    if (error instanceof UnexpectedRows && error.statement > 0) throw error;
    // Without a place there is no execution, and so none that the message could belong to.
    if (error instanceof UnexpectedRows || error instanceof ForeignKeyViolation) {
      throw fail('unknown_resource', { kind: 'reactor', name: reactorId });
    }
    throw error;
  }
  return id;
}
