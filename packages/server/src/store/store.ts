import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import type { RowsOf, Statement } from './statement.ts';

export type Dialect = 'sqlite' | 'postgres';

/** The port through which every module keeps and finds its facts. SQLite and PostgreSQL implement it. */
export interface Store {
  readonly dialect: Dialect;
  /** For reading only. What `write` has resolved is seen here. */
  readonly read: Kysely<Schema>;
  /**
   * Applies all statements of the unit, in order, or none of them, and resolves once they are durable.
   * Units that arrive together share one commit; a unit that fails takes no other with it.
   */
  write<const Unit extends readonly Statement[]>(...unit: Unit): Promise<RowsOf<Unit>>;
  /** Resolves when the store answers; rejects with StoreUnavailable when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
