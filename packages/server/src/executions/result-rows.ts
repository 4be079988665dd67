import { sql } from 'kysely';
import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Execution } from './execution.ts';

/** Results as the database of the logs keeps them. */

export interface ResultBox {
  readonly given: number;
  readonly bytes: number;
  readonly spoolWorker: string;
  readonly spoolPlace: number;
}

export interface KeptResult {
  /** Its number among the results of its execution, from 1. */
  readonly place: number;
  readonly body: Uint8Array;
}

/** Even an empty result takes room: so many small ones are as much as a large one. */
const leastCounted = 1024;

export const countedSize = (bytes: number): number => Math.max(bytes, leastCounted);

interface Grown {
  readonly executionId: string;
  readonly reactorId: string;
  readonly seq: number;
  readonly bytes: number;
  readonly now: number;
  readonly limit: number;
}

/** Takes the next number, as long as there is room under the limit. */
const growBox = prepared((db, p: Grown) =>
  db
    .insertInto('result_boxes')
    .values({
      execution_id: p.executionId,
      reactor_id: p.reactorId,
      seq: p.seq,
      given: 1,
      bytes: p.bytes,
      spool_worker: '',
      spool_place: 0,
      last_given_at: p.now,
    })
    .onConflict((conflict) =>
      conflict
        .column('execution_id')
        .doUpdateSet((eb) => ({
          given: eb('result_boxes.given', '+', 1),
          bytes: eb('result_boxes.bytes', '+', eb.ref('excluded.bytes')),
          last_given_at: eb.ref('excluded.last_given_at'),
        }))
        .where(sql<boolean>`result_boxes.bytes + excluded.bytes <= ${p.limit}`),
    )
    .returning('given'),
);

const insertResult = prepared((db, p: { executionId: string; body: Uint8Array }) =>
  db
    .insertInto('results')
    .columns(['execution_id', 'place', 'body'])
    .expression((eb) =>
      eb
        .selectFrom('result_boxes')
        .select(['execution_id', 'given', sql<Uint8Array>`${p.body}`.as('body')])
        .where('execution_id', '=', p.executionId),
    ),
);

/** The statements that keep one more result. The first returns its number, and no row when there is no room for it. */
export function oneMore(execution: Execution, body: Uint8Array, limit: number) {
  const { id: executionId, reactorId, seq } = execution;
  const bytes = countedSize(body.byteLength);
  const now = Date.now();
  return [
    growBox({ executionId, reactorId, seq, bytes, now, limit }),
    insertResult({ executionId, body }),
  ] as const;
}

const moveSpool = prepared((db, p: { executionId: string; worker: string; place: number }) =>
  db
    .updateTable('result_boxes')
    .set({ spool_worker: p.worker, spool_place: p.place })
    .where('execution_id', '=', p.executionId),
);

/** Notes how far the datagrams of a run are kept, in the same unit as the last of them. */
export const readUpTo = (execution: Execution, place: number): Statement =>
  moveSpool({ executionId: execution.id, worker: execution.workerId ?? '', place });

/** Takes the oldest. Two that choose the same row at the same time: one of them gets no row. */
export const takeOldest = prepared((db, p: { executionId: string }) =>
  db
    .deleteFrom('results')
    .where('execution_id', '=', p.executionId)
    .where('place', '=', (eb) =>
      eb
        .selectFrom('results as oldest')
        .select((oldest) => oldest.fn.min('oldest.place').as('place'))
        .where('oldest.execution_id', '=', p.executionId),
    )
    .returning(['place', 'body']),
);

export async function findBox(store: Store, executionId: string): Promise<ResultBox | undefined> {
  const row = await store.read
    .selectFrom('result_boxes')
    .select(['given', 'bytes', 'spool_worker', 'spool_place'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { given, bytes, spool_worker: spoolWorker, spool_place: spoolPlace } = row;
  return { given, bytes, spoolWorker, spoolPlace };
}

export async function hasResult(store: Store, executionId: string): Promise<boolean> {
  const row = await store.read
    .selectFrom('results')
    .select('place')
    .where('execution_id', '=', executionId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function findResult(
  store: Store,
  executionId: string,
  after: number,
): Promise<KeptResult | undefined> {
  return store.read
    .selectFrom('results')
    .select(['place', 'body'])
    .where('execution_id', '=', executionId)
    .where('place', '>', after)
    .orderBy('place')
    .limit(1)
    .executeTakeFirst();
}

/** The newest execution of a reactor that has given a result, also when nothing of it is left. */
export async function newestWithResult(
  store: Store,
  reactorId: string,
): Promise<string | undefined> {
  const row = await store.read
    .selectFrom('result_boxes')
    .select('execution_id')
    .where('reactor_id', '=', reactorId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.execution_id;
}
