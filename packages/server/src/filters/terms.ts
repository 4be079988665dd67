import { fail } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Field, Fields } from './field.ts';
import { invalid, readList, readValue, type Value } from './values.ts';

export const operators = [
  'eq',
  'neq',
  'lt',
  'lte',
  'gt',
  'gte',
  'in',
  'nin',
  'like',
  'nlike',
  'between',
] as const;

type Operator = (typeof operators)[number];

/** One condition of a search. */
export interface Term {
  readonly name: string;
  readonly field: Field;
  readonly operator: Operator;
  readonly values: readonly Value[];
}

/** What a query asks for. */
export interface Wanted {
  readonly terms: readonly Term[];
  /** Words that must all be found somewhere, and texts that must be found as they are. */
  readonly words: readonly string[];
  /** Whether it asks for anything. */
  readonly isSearch: boolean;
}

/** Never search terms, wherever they stand. */
const ownParameters = ['limit', 'offset', 'skip', 'cursor', 'all', 'naked', 'pretty', 'x-nonce'];
const mostTerms = 20;
const longestValue = 1000;

/** Reads `field=value`, `field.op=value`, `search=` and `exactsearch=` out of a query; refuses everything else by name. */
export function readWanted(query: object, fields: Fields): Wanted {
  const terms: Term[] = [];
  const words: string[] = [];
  let isSearch = 'skip' in query;
  for (const [name, given] of Object.entries(query)) {
    if (ownParameters.includes(name)) continue;
    isSearch = true;
    const value = readText(name, given);
    if (name === 'search') words.push(...value.split(/\s+/).filter((word) => word !== ''));
    else if (name === 'exactsearch') words.push(value);
    else terms.push(readTerm(name, value, fields));
    if (terms.length + words.length > mostTerms)
      throw invalid(name, `is one term too many; a search takes up to ${mostTerms}`);
  }
  return { terms, words, isSearch };
}

function readText(name: string, given: unknown): string {
  const text = typeof given === 'string' ? given : String(given);
  if (Array.isArray(given)) throw invalid(name, 'takes one value; write a list as name.in=a,b');
  if (text.length > longestValue || text.includes('\0') || !text.isWellFormed())
    throw invalid(name, `takes up to ${longestValue} characters of text`);
  return text;
}

function readTerm(given: string, value: string, fields: Fields): Term {
  const [spelled = '', suffix, ...more] = given.split('.');
  const name = Object.keys(fields).find((known) => fold(known) === fold(spelled));
  const field = name === undefined ? undefined : fields[name];
  if (name === undefined || field === undefined || more.length > 0)
    throw unknown(given, spelled, Object.keys(fields));
  const operator = operators.find((known) => known === (suffix ?? 'eq').toLowerCase());
  if (operator === undefined) {
    const near = nearest(suffix ?? '', operators);
    throw invalid(
      given,
      `${suffix} is not an operator${near === undefined ? '' : ` (did you mean ${near}?)`}; they are ${operators.join(', ')}`,
    );
  }
  return { name, field, operator, values: readValues(given, field, operator, value) };
}

function readValues(
  name: string,
  field: Field,
  operator: Operator,
  given: string,
): readonly Value[] {
  if (operator === 'like' || operator === 'nlike') {
    if (field.kind !== 'text') throw invalid(name, 'like and nlike are for text');
    return [given];
  }
  const many = operator === 'in' || operator === 'nin' || operator === 'between';
  const texts = many ? readList(name, given) : [given];
  if (operator === 'between' && texts.length !== 2)
    throw invalid(name, 'takes two values with a comma between them');
  if (texts.length > 100) throw invalid(name, 'takes up to 100 values');
  const values = texts.map((text) => readValue(name, field, text));
  if (values.includes(null) && operator !== 'eq' && operator !== 'neq')
    throw invalid(name, 'none goes with eq and neq alone');
  return values;
}

function unknown(given: string, spelled: string, known: readonly string[]) {
  const near = nearest(spelled, [...known, ...known.map(snake)]);
  const suggestion =
    near === undefined ? ` (there are ${known.join(', ')})` : ` (did you mean ${near}?)`;
  return fail('unknown_field', { field: given, suggestion });
}

const fold = (name: string): string => name.replaceAll('_', '').toLowerCase();

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
