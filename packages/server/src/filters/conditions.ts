import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Fields } from './field.ts';
import type { Term, Wanted } from './terms.ts';
import type { Value } from './values.ts';

export type Condition = RawBuilder<SqlBool>;

/** What rows must fulfil, each of them. */
export function conditionsOf({ terms, words }: Wanted, fields: Fields): readonly Condition[] {
  return [...terms.flatMap(ofTerm), ...words.map((word) => anywhere(word, fields))];
}

const comparisons = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

function ofTerm(term: Term): readonly Condition[] {
  const { field, operator, values } = term;
  const column = sql.ref(field.column);
  const [first = null, second = null] = values;
  switch (operator) {
    case 'eq':
      if (first === null) return [sql<SqlBool>`${column} is null`];
      return [sql<SqlBool>`${column} = ${exactly(term, first)}`, ...nonzero(term)];
    case 'neq':
      if (first === null) return [sql<SqlBool>`${column} is not null`];
      if (field.rarelyNonzero && first === 0) return nonzero(term);
      return [sql<SqlBool>`(${column} <> ${first} or ${column} is null)`];
    case 'in':
      return [sql<SqlBool>`${column} in (${sql.join(values)})`];
    case 'nin':
      return [sql<SqlBool>`(${column} not in (${sql.join(values)}) or ${column} is null)`];
    case 'like':
      return [contains(field.column, String(first))];
    case 'nlike':
      return [sql<SqlBool>`(not ${contains(field.column, String(first))} or ${column} is null)`];
    case 'between':
      return [sql<SqlBool>`${column} between ${first} and ${second}`];
    default:
      return [
        sql<SqlBool>`${column} ${sql.raw(comparisons[operator])} ${first}`,
        ...(operator.startsWith('g') ? nonzero(term) : []),
      ];
  }
}

/** A literal where the field's values are known: only so do indexes of one status fit. */
const exactly = ({ field }: Term, value: Value): RawBuilder<unknown> =>
  field.values === undefined ? sql`${value}` : sql.lit(value);

/** Said once more in the words of the index, which the databases do not all conclude by themselves. */
function nonzero({ field, operator, values: [first] }: Term): readonly Condition[] {
  const isNonzero = operator === 'neq' || (typeof first === 'number' && first > 0);
  return field.rarelyNonzero && isNonzero ? [sql<SqlBool>`${sql.ref(field.column)} <> 0`] : [];
}

/** Found in the text, whatever the case of A to Z; with `*`, which stands for anything, the text as a whole. */
function contains(column: string, given: string): Condition {
  const parts = given.replaceAll('.*', '*').split('*');
  const escaped = parts.map((part) => part.replace(/[\\%_]/g, '\\$&'));
  const pattern = parts.length === 1 ? `%${escaped[0]}%` : escaped.join('%');
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern.toLowerCase()} escape '\\'`;
}

function anywhere(word: string, fields: Fields): Condition {
  const columns = Object.values(fields).filter(({ kind }) => kind === 'text');
  const plain = word.replaceAll('*', '');
  const found = columns.map(({ column }) => contains(column, plain));
  return sql<SqlBool>`(${sql.join(found, sql` or `)})`;
}
