import type { Kysely } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Schema } from './schema.ts';
import type { RowsOf, Statement } from './statement.ts';

export type { Dialect } from './dialect.ts';

/** The port through which every module keeps and finds its facts. SQLite and PostgreSQL implement it. */
export interface Store {
  readonly dialect: Dialect;
  /** For reading only. What `write` has resolved is seen here. Each query stands alone: there are no transactions. */
  readonly read: Kysely<Schema>;
  /**
   * Applies all statements of the unit, in order, or none of them, and resolves once they are durable.
   * Units that arrive together share one commit; a unit that fails takes no other with it.
   * Resolves with one `{ rows, affected }` per statement.
   */
  write<const Unit extends readonly Statement[]>(...unit: Unit): Promise<RowsOf<Unit>>;
  /** Resolves when the store answers; rejects with StoreUnavailable when it does not. */
  ping(): Promise<void>;
  /** Lets the writes that were asked for finish, then lets go of the database. */
  close(): Promise<void>;
}
