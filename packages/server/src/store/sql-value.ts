import { UnstorableValue } from './store-errors.ts';

/** What a statement may carry into the database. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * Lets through what both databases give back as it was given, and refuses the rest: PostgreSQL has no text with
 * NUL, neither has text with half a surrogate pair, SQLite would keep NaN as null, and `undefined` is a mistake.
 */
export function storable(value: unknown): SqlValue {
  switch (typeof value) {
    case 'string':
      if (value.includes('\0')) throw new UnstorableValue('a text with a NUL character');
      if (!value.isWellFormed()) throw new UnstorableValue('a text with half a surrogate pair');
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new UnstorableValue(`the number ${value}`);
      return value;
    case 'bigint':
      return value;
    default:
      if (value === null || value instanceof Uint8Array) return value;
      throw new UnstorableValue(`a value of type ${typeof value}`);
  }
}

/** About how many bytes the value takes on its way to the database; exact enough to bound a batch. */
export function weight(value: SqlValue): number {
  if (typeof value === 'string') return value.length;
  return value instanceof Uint8Array ? value.byteLength : 8;
}
