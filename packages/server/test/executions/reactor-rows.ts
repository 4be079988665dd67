import { sql } from 'kysely';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';

/** Reactors and executions straight into the store, for tests that need many, or old ones. */

/** The owner is there already. */
export async function addReactor(store: Store, id: string, ownerId: string): Promise<void> {
  const now = Date.now();
  await store.write(
    once((db) =>
      db.insertInto('reactors').values({
        id,
        owner_id: ownerId,
        name: null,
        image: 'none',
        stateless: 1,
        max_workers: 1,
        timeout: 60,
        log_ex: 60,
        token: 0,
        status: 'READY',
        revision: 1,
        tended_at: now,
        created_at: now,
        updated_at: now,
      }),
    ),
  );
}

export interface AddedExecution {
  readonly id: string;
  readonly reactorId: string;
  readonly ownerId: string;
  readonly seq: number;
  readonly status: 'SUBMITTED' | 'RUNNING' | 'COMPLETE' | 'ERROR';
  /** Microseconds. */
  readonly finishedAt: number | null;
  readonly message?: Uint8Array;
}

export async function addExecution(store: Store, added: AddedExecution): Promise<void> {
  const { id, message = Buffer.from('hello') } = added;
  await store.write(
    once((db) =>
      db.insertInto('executions').values({
        id,
        reactor_id: added.reactorId,
        owner_id: added.ownerId,
        seq: added.seq,
        status: added.status,
        executor_id: added.ownerId,
        executor: 'ada',
        content_type: 'str',
        message_size: message.length,
        received_at: 1,
        finished_at: added.finishedAt,
      }),
    ),
    once((db) => db.insertInto('messages').values({ execution_id: id, body: message })),
  );
}

/** Executions with the places 1 to `count`, all in one statement; those of SQLite. */
export async function addManyExecutions(
  store: Store,
  reactorId: string,
  ownerId: string,
  count: number,
): Promise<void> {
  await store.write(
    once((db) => ({
      compile: () =>
        sql`with recursive n (seq) as (select 1 union all select seq + 1 from n where seq < ${count})
          insert into executions (id, reactor_id, owner_id, seq, status, executor_id, executor, content_type,
            message_size, received_at, started_at, finished_at, exit_code)
          select ${`${reactorId}x`} || seq, ${reactorId}, ${ownerId}, seq, 'COMPLETE', ${ownerId}, 'ada', 'str',
            1, seq, seq, seq + 1760000000000000, 0 from n`.compile(db),
    })),
    once((db) =>
      db
        .updateTable('reactors')
        .set({ last_seq: count, total_executions: count })
        .where('id', '=', reactorId),
    ),
  );
}
