import { type RawBuilder, type SchemaModule, sql } from 'kysely';
import type { Dialect } from '../dialect.ts';

/** One numbered step of the schema. It is never changed once released; a correction is the next number. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  up(schema: SchemaModule, types: ColumnTypes): Promise<void>;
}

/** Steps that are numbered together, and the table that says which of them a database has. */
export interface MigrationSet {
  readonly ledger: 'schema_migrations' | 'log_schema_migrations';
  readonly migrations: readonly Migration[];
}

/**
 * The column types of one database, so that a migration is written once.
 * Constraints are checked at the statement, never deferred: a check at COMMIT would fail the whole shared batch.
 */
export interface ColumnTypes {
  readonly text: RawBuilder<unknown>;
  /** 64 bits. Also for booleans (0, 1) and times (ms since the epoch). */
  readonly integer: RawBuilder<unknown>;
  readonly binary: RawBuilder<unknown>;
  /** Ends every createTable: `.modifyEnd(types.tableEnd)`. In SQLite it makes the column types binding. */
  readonly tableEnd: RawBuilder<unknown>;
}

export const columnTypes: Readonly<Record<Dialect, ColumnTypes>> = {
  sqlite: {
    text: sql`text`,
    integer: sql`integer`,
    binary: sql`blob`,
    tableEnd: sql`strict`,
  },
  postgres: {
    // SQLite orders text by its bytes; the server's locale would order it otherwise.
    text: sql`text collate "C"`,
    integer: sql`bigint`,
    binary: sql`bytea`,
    tableEnd: sql``,
  },
};
