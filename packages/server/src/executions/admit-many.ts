import { sql } from 'kysely';
import { fail } from '../errors.ts';
import { risingId } from '../ids.ts';
import { holdOwner } from '../reactors/reactor-rows.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import {
  type Admission,
  type Admitted,
  insertAt,
  insertMessage,
  isWithoutPlace,
  type NewExecution,
} from './admit.ts';
import { nowInMicroseconds } from './execution-time.ts';
import { firstReply, type GivenKey, keepReply } from './idempotency.ts';
import { delayedFrom } from './places.ts';
import { type DeliveryLimits, quotaProblem, withinQuotas } from './quota-checks.ts';

/** Messages that are accepted together or not at all, and what goes with them. */
export interface Delivery {
  readonly reactorId: string;
  readonly executor: Admission['executor'];
  readonly items: readonly Pick<Admission, 'message' | 'environment'>[];
  readonly delaySeconds?: number | undefined;
  readonly key?: GivenKey | undefined;
  readonly limits?: DeliveryLimits | undefined;
  /** Something that must still be there, once, and is used up: undone with the rest. */
  readonly instead?: Statement | undefined;
}

interface Places {
  readonly reactorId: string;
  readonly count: number;
  readonly size: number;
}

const takePlaces = prepared((db, p: Places) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      last_seq: eb('last_seq', '+', p.count),
      total_executions: eb('total_executions', '+', p.count),
      stored_bytes: eb('stored_bytes', '+', p.size),
    }))
    .where('id', '=', p.reactorId)
    .where('status', '!=', sql.lit('SHUTTING_DOWN')),
);

const takeDelayedPlaces = prepared((db, p: Places) =>
  db
    .updateTable('reactors')
    .set((eb) => ({
      delayed: eb('delayed', '+', p.count),
      delayed_seq: eb('delayed_seq', '+', p.count),
      total_executions: eb('total_executions', '+', p.count),
      stored_bytes: eb('stored_bytes', '+', p.size),
    }))
    .where('id', '=', p.reactorId)
    .where('status', '!=', sql.lit('SHUTTING_DOWN')),
);

/** `behind`: how many of the places that were taken come after this one. */
const insertInOrder = prepared((db, p: NewExecution & { behind: number }) =>
  insertAt(
    db,
    p,
    sql<number>`last_seq - cast(${p.behind} as bigint)`,
    sql<null>`cast(null as bigint)`,
  ),
);

const insertDelayed = prepared((db, p: NewExecution & { behind: number; dueAt: number }) =>
  insertAt(
    db,
    p,
    sql<number>`${sql.lit(delayedFrom)} + delayed_seq - cast(${p.behind} as bigint)`,
    sql<number>`cast(${p.dueAt} as bigint)`,
  ),
);

/** Accepts messages with all that a plain one does not have: several at once, a time, a key, quotas. One unit. */
export async function admitMany(store: Store, delivery: Delivery): Promise<Admitted> {
  const { reactorId, key, delaySeconds = 0 } = delivery;
  if (key !== undefined) {
    const first = await firstReply(store, reactorId, key);
    if (first !== undefined) return first;
  }
  const receivedAt = nowInMicroseconds();
  const dueAt = delaySeconds > 0 ? receivedAt + delaySeconds * 1_000_000 : undefined;
  const executionIds = delivery.items.map(() => risingId());
  const unit = unitOf(delivery, executionIds, receivedAt, dueAt);
  try {
    await store.write(...unit.statements);
  } catch (error) {
    if (key !== undefined && isTaken(error)) {
      // Another request with the key was faster, and has been answered for.
      const first = await firstReply(store, reactorId, key);
      if (first !== undefined) return first;
    }
    throw isWithoutPlace(error) ? await refusal(store, delivery, unit, error) : error;
  }
  return { executionIds, repeated: false, dueAt };
}

/** Which of the unit's conditions it was. */
async function refusal(
  store: Store,
  { reactorId, limits, items }: Delivery,
  unit: ReturnType<typeof unitOf>,
  error: unknown,
): Promise<Error> {
  const statement = error instanceof UnexpectedRows ? error.statement : -1;
  if (statement === unit.quotaCheck && limits !== undefined)
    return quotaProblem(store, limits, items.length);
  if (statement === unit.insteadOf) return new UsedUp();
  return fail('unknown_resource', { kind: 'reactor', name: reactorId });
}

/** What the messages were to come from is gone: somebody was faster. */
export class UsedUp extends Error {
  override readonly name = 'UsedUp';
}

const isTaken = (error: unknown): boolean =>
  error instanceof UniqueViolation && error.table === 'idempotency_keys';

function unitOf(
  delivery: Delivery,
  executionIds: readonly string[],
  receivedAt: number,
  dueAt: number | undefined,
) {
  const { reactorId, executor, items, key, limits, instead } = delivery;
  const statements: Statement[] = [];
  const size = items.reduce((sum, { message }) => sum + message.body.byteLength, 0);
  const places = { reactorId, count: items.length, size };
  let quotaCheck: number | undefined;
  if (limits !== undefined) {
    // Whoever else adds to what this owner has waits here, so that what is counted next is what there is.
    statements.push(holdOwner({ ownerId: limits.ownerId }));
    quotaCheck = statements.length;
    statements.push(expectRows(withinQuotas(limits, items.length, size), 1));
  }
  statements.push(
    expectRows(dueAt === undefined ? takePlaces(places) : takeDelayedPlaces(places), 1),
  );
  const insteadOf = instead === undefined ? undefined : statements.length;
  if (instead !== undefined) statements.push(expectRows(instead, 1));
  // After the place: two requests with one key wait for each other there, and not for the key.
  if (key !== undefined) statements.push(...keepReply(reactorId, key, executionIds));
  for (const [at, { message, environment }] of items.entries()) {
    const id = executionIds[at] ?? '';
    const row = {
      id,
      reactorId,
      executorId: executor.userId,
      executor: executor.username,
      clientId: executor.clientId,
      contentType: message.contentType,
      size: message.body.byteLength,
      environment: JSON.stringify(environment),
      receivedAt,
      behind: items.length - 1 - at,
    };
    statements.push(
      dueAt === undefined ? insertInOrder(row) : insertDelayed({ ...row, dueAt }),
      insertMessage({ executionId: id, body: message.body }),
    );
  }
  return { statements, quotaCheck, insteadOf };
}
