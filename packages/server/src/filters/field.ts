/** What can be searched for: the name in records, the column, and what its values are. */
export interface Field {
  readonly column: string;
  readonly kind: 'text' | 'number' | 'flag' | 'milliseconds' | 'microseconds';
  /** All that it can be, where that is known. */
  readonly values?: readonly string[];
  /** There is an index of those rows alone in which it is not 0. */
  readonly rarelyNonzero?: true;
}

export type Fields = Readonly<Record<string, Field>>;

export const text = (column: string): Field => ({ column, kind: 'text' });
export const number = (column: string): Field => ({ column, kind: 'number' });
export const flag = (column: string): Field => ({ column, kind: 'flag' });
export const milliseconds = (column: string): Field => ({ column, kind: 'milliseconds' });
export const microseconds = (column: string): Field => ({ column, kind: 'microseconds' });
export const oneOf = (column: string, values: readonly string[]): Field => ({
  column,
  kind: 'text',
  values,
});
