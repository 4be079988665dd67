import type { DatabaseSync } from 'node:sqlite';
import {
  ForeignKeyViolation,
  NotNullViolation,
  StatementFailed,
  StoreError,
  StoreUnavailable,
  UnexpectedRows,
  UniqueViolation,
} from '../store-errors.ts';

/** A store error as plain data, since classes do not survive the way between threads. */
export type Failure =
  | { readonly kind: 'unique'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'foreign key' }
  | { readonly kind: 'null' }
  | {
      readonly kind: 'rows';
      readonly statement: number;
      readonly expected: number;
      readonly actual: number;
    }
  | { readonly kind: 'unavailable'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/** SQLite's result codes that say nothing about the statement and all about the file, the disk or the machine. */
const unavailable = new Set([
  3, // PERM
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  9, // INTERRUPT
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
  26, // NOTADB
]);

export function failureOf(error: unknown, db?: DatabaseSync): Failure {
  if (error instanceof UnexpectedRows) {
    const { statement, expected, actual } = error;
    return { kind: 'rows', statement, expected, actual };
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = resultCode(error);
  if (code !== undefined && unavailable.has(code & 0xff)) return { kind: 'unavailable', message };
  // A call to the file system failed while the file was made.
  if (error instanceof Error && 'syscall' in error) return { kind: 'unavailable', message };
  if (message === 'FOREIGN KEY constraint failed') return { kind: 'foreign key' };
  if (message.startsWith('NOT NULL constraint failed')) return { kind: 'null' };
  return uniqueFailure(message, db) ?? { kind: 'failed', message };
}

export function errorFrom(failure: Failure): StoreError {
  switch (failure.kind) {
    case 'unique':
      return new UniqueViolation(failure.table, failure.columns);
    case 'foreign key':
      return new ForeignKeyViolation();
    case 'null':
      return new NotNullViolation();
    case 'rows':
      return new UnexpectedRows(failure.statement, failure.expected, failure.actual);
    case 'unavailable':
      return new StoreUnavailable(`The SQLite file cannot be used: ${failure.message}.`);
    case 'failed':
      return new StatementFailed(failure.message);
  }
}

/** For errors met in the main thread, where the cause can stay attached. */
export function translate(error: unknown): Error {
  if (error instanceof StoreError) return error;
  const translated = errorFrom(failureOf(error));
  translated.cause = error;
  return translated;
}

/** The message is all there is: `UNIQUE constraint failed: users.a, users.b`, or `… failed: index 'name'`. */
function uniqueFailure(message: string, db: DatabaseSync | undefined): Failure | undefined {
  const what = /^UNIQUE constraint failed: (.+)$/s.exec(message)?.[1];
  if (what === undefined) return undefined;
  const index = /^index '(.+)'$/.exec(what)?.[1];
  if (index !== undefined) {
    const find = db?.prepare('SELECT tbl_name AS "table" FROM sqlite_schema WHERE name = ?');
    const { table = index } = find?.get(index) ?? {};
    return { kind: 'unique', table: String(table), columns: [] };
  }
  const names = what.split(', ').map((name) => name.split('.'));
  return {
    kind: 'unique',
    table: names[0]?.[0] ?? '',
    columns: names.map(([, column]) => column ?? ''),
  };
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}
