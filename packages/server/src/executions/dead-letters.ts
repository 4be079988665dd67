import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Admission, Admitted } from './admit.ts';
import { admitMany, UsedUp } from './admit-many.ts';
import { type ContentType, contentTypes, type Execution, executionFrom } from './execution.ts';
import type { DeliveryLimits } from './quota-checks.ts';
import { reasonOf } from './retry.ts';

/** A message whose execution has failed for the last time. */
export interface DeadLetter {
  readonly executionId: string;
  /** The place of its execution in the list. */
  readonly seq: number;
  /** Microseconds. */
  readonly diedAt: number;
  readonly attempts: number;
  readonly exitCode: number | null;
  readonly reason: string;
  readonly contentType: ContentType;
  readonly size: number;
}

/** Newest first; with `below` those before that place. */
export async function listDeadLetters(
  store: Store,
  reactorId: string,
  limit: number,
  below: number | undefined,
): Promise<readonly DeadLetter[]> {
  const rows = await store.read
    .selectFrom('executions')
    .selectAll()
    .where('reactor_id', '=', reactorId)
    .where('dead_at', 'is not', null)
    .$if(below !== undefined, (query) => query.where('seq', '<', below ?? 0))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    executionId: row.id,
    seq: row.seq,
    diedAt: row.dead_at ?? 0,
    attempts: row.attempt,
    exitCode: row.exit_code,
    reason: reasonOf({ statusMessage: row.status_message, exitCode: row.exit_code }),
    contentType: contentTypes.find((known) => known === row.content_type) ?? 'str',
    size: row.message_size,
  }));
}

const take = prepared((db, p: { reactorId: string; id: string }) =>
  db
    .updateTable('executions')
    .set({ dead_at: null })
    .where('id', '=', p.id)
    .where('reactor_id', '=', p.reactorId)
    .where('dead_at', 'is not', null),
);

const stepRows = 500;

const takeSome = prepared((db, p: { reactorId: string; upTo: number }) =>
  db
    .updateTable('executions')
    .set({ dead_at: null })
    .where('id', 'in', (rows) =>
      rows
        .selectFrom('executions')
        .select('id')
        .where('reactor_id', '=', p.reactorId)
        .where('dead_at', 'is not', null)
        .where('dead_at', '<=', p.upTo)
        .orderBy('seq')
        .limit(stepRows),
    )
    .where('dead_at', 'is not', null),
);

/** False: it is not there. */
export async function deleteDeadLetter(
  store: Store,
  reactorId: string,
  id: string,
): Promise<boolean> {
  const [taken] = await store.write(take({ reactorId, id }));
  return taken.affected > 0;
}

/** All that are there now. Resolves with their number. */
export async function deleteDeadLetters(
  store: Store,
  reactorId: string,
  now: number,
): Promise<number> {
  for (let total = 0; ; ) {
    const [taken] = await store.write(takeSome({ reactorId, upTo: now }));
    total += taken.affected;
    if (taken.affected < stepRows) return total;
  }
}

export interface Replay {
  readonly reactorId: string;
  /** Who wants it: the new execution is theirs. */
  readonly executor: Admission['executor'];
  readonly limits: DeliveryLimits | undefined;
}

/** The message again, as a new execution, in the unit in which it stops being a dead letter. Undefined: it is none. */
export async function replayOne(
  store: Store,
  { reactorId, executor, limits }: Replay,
  id: string,
): Promise<Admitted | undefined> {
  const found = await find(store, reactorId, id);
  if (found === undefined) return undefined;
  const { contentType, environment } = found.execution;
  try {
    return await admitMany(store, {
      reactorId,
      executor,
      items: [{ message: { contentType, body: found.body }, environment }],
      limits,
      instead: take({ reactorId, id }),
    });
  } catch (error) {
    if (error instanceof UsedUp) return undefined;
    throw error;
  }
}

/** All that are there now, in the order of their messages. `each` is told of the new executions. */
export async function replayAll(
  store: Store,
  replay: Replay,
  now: number,
  each: (executionId: string) => void,
): Promise<number> {
  let total = 0;
  for (let after = 0; ; ) {
    const rows = await store.read
      .selectFrom('executions')
      .select(['id', 'seq'])
      .where('reactor_id', '=', replay.reactorId)
      .where('dead_at', 'is not', null)
      .where('dead_at', '<=', now)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(stepRows)
      .execute();
    for (const { id, seq } of rows) {
      after = seq;
      const admitted = await replayOne(store, replay, id);
      if (admitted === undefined) continue;
      total += 1;
      for (const executionId of admitted.executionIds) each(executionId);
    }
    if (rows.length < stepRows) return total;
  }
}

async function find(
  store: Store,
  reactorId: string,
  id: string,
): Promise<{ execution: Execution; body: Uint8Array } | undefined> {
  const row = await store.read
    .selectFrom('executions')
    .innerJoin('messages', 'messages.execution_id', 'executions.id')
    .selectAll('executions')
    .select('messages.body')
    .where('executions.id', '=', id)
    .where('reactor_id', '=', reactorId)
    .where('dead_at', 'is not', null)
    .executeTakeFirst();
  return row && { execution: executionFrom(row), body: row.body };
}
