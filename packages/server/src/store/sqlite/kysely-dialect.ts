import type { DatabaseSync } from 'node:sqlite';
import { type Dialect, SqliteDialect, type SqliteStatement } from 'kysely';
import { storable } from '../sql-value.ts';
import { StatementCache } from './connection.ts';

const mostStatements = 256;

/** Kysely over a connection of node:sqlite. Each query runs at once, in the calling thread. */
export function kyselyDialect(db: DatabaseSync): Dialect {
  const cache = new StatementCache(db, mostStatements);
  return new SqliteDialect({
    database: {
      prepare: (sql) => statement(db, cache, sql),
      close: () => db.close(),
    },
  });
}

function statement(db: DatabaseSync, cache: StatementCache, sql: string): SqliteStatement {
  const { statement: cached, returnsRows } = cache.get(sql);
  return {
    reader: returnsRows,
    // node:sqlite gives rows without a prototype, pg gives plain objects: callers get plain objects.
    all: (values) => cached.all(...values.map(storable)).map((row) => ({ ...row })),
    run: (values) => cached.run(...values.map(storable)),
    // Someone may run the same query while this one is still being read: it gets a statement of its own.
    iterate: (values) => db.prepare(sql).iterate(...values.map(storable)),
  };
}
