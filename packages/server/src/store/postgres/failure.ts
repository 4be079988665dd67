import pg from 'pg';
import {
  ForeignKeyViolation,
  NotNullViolation,
  StatementFailed,
  StoreError,
  StoreUnavailable,
  UniqueViolation,
} from '../store-errors.ts';

/**
 * SQLSTATEs, or classes of them, that say nothing about the statement: connection trouble, no resources, an
 * operator's doing, a system error, corruption, a lost lock fight, and a server that has become a read-only replica.
 */
const unavailable = /^(08|28|53|57|58|XX|40|3D000|55P03|25006|25P03)/;

/** 23001 is what PostgreSQL 18 and later say for ON DELETE RESTRICT. */
const foreignKey = new Set(['23503', '23001']);

export function translate(error: unknown): Error {
  if (error instanceof StoreError) return error;
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    if (foreignKey.has(code)) return new ForeignKeyViolation({ cause: error });
    if (code === '23502') return new NotNullViolation({ cause: error });
    if (unavailable.test(code)) return lost(error);
    return new StatementFailed(error.message, { cause: error });
  }
  if (error instanceof RangeError || error instanceof TypeError) {
    return new StatementFailed(error.message, { cause: error });
  }
  // pg has no class of its own for a refused, broken or timed out connection.
  return lost(error);
}

/** The translation for a unique violation, which needs a look into the catalog; undefined for all others. */
export async function uniqueViolation(
  error: unknown,
  client: pg.ClientBase,
): Promise<UniqueViolation | undefined> {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') return undefined;
  const { schema, table = '', constraint } = error;
  // indkey is 0 where the index has an expression in place of a column; SQLite names no columns then either.
  const found = await client.query<{ column: string | null }>({
    name: 'unique columns',
    text: `select a.attname as column
      from pg_class i
      join pg_namespace n on n.oid = i.relnamespace
      join pg_index x on x.indexrelid = i.oid
      cross join lateral unnest(x.indkey::int2[]) with ordinality as k (attnum, place)
      left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum and k.attnum > 0
      where i.relname = $1 and n.nspname = $2 and k.place <= x.indnkeyatts
      order by k.place`,
    values: [constraint, schema],
  });
  const columns = found.rows.map(({ column }) => column);
  const named = columns.filter((column) => column !== null);
  return new UniqueViolation(table, named.length === columns.length ? named : [], { cause: error });
}

function lost(cause: unknown): StoreUnavailable {
  const message = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new StoreUnavailable(`PostgreSQL is not available: ${message}.`, { cause });
}
