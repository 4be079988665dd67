import { fail, type ServiceError } from '../errors.ts';
import type { Field } from './field.ts';

export type Value = string | number | null;

/** Reads the value of a term as its field has it; `none` and `null` stand for what is not there. */
export function readValue(name: string, field: Field, given: string): Value {
  if (/^(none|null)$/i.test(given)) return null;
  switch (field.kind) {
    case 'number':
      if (/^-?\d{1,15}(\.\d{1,9})?$/.test(given)) return Number(given);
      throw invalid(name, 'takes a number');
    case 'flag':
      if (/^(true|1)$/i.test(given)) return 1;
      if (/^(false|0)$/i.test(given)) return 0;
      throw invalid(name, 'takes true or false');
    case 'milliseconds':
      return Math.floor(readTime(name, given) / 1000);
    case 'microseconds':
      return readTime(name, given);
    case 'text':
      return oneOfValues(name, field, given);
  }
}

function oneOfValues(name: string, { values }: Field, given: string): string {
  if (values === undefined) return given;
  const known = values.find((value) => value === given.toUpperCase());
  if (known === undefined) throw invalid(name, `takes one of ${values.join(', ')}`);
  return known;
}

const timePattern =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/;

/** A year, a month, a day or a time, in UTC unless it has an offset; in microseconds. */
function readTime(name: string, given: string): number {
  const match = timePattern.exec(given);
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00'] = match ?? [];
  const fraction = (match?.[7] ?? '').slice(0, 6).padEnd(6, '0');
  const zone = (match?.[8] ?? 'Z').replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const whole = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  if (match === null || Number.isNaN(whole))
    throw invalid(name, 'takes a time such as 2026-01-31 or 2026-01-31T12:00:00Z');
  return whole * 1000 + Number(fraction);
}

/** A JSON list with either kind of quotes, or values with commas between them. */
export function readList(name: string, given: string): readonly string[] {
  if (!given.trim().startsWith('[')) return given.split(',').map((entry) => entry.trim());
  for (const json of [given, given.replaceAll("'", '"')]) {
    try {
      const list: unknown = JSON.parse(json);
      if (Array.isArray(list)) return list.map(String);
    } catch {
      // The other kind of quotes, then.
    }
  }
  throw invalid(name, 'takes values with commas between them, or a JSON list');
}

export const invalid = (field: string, problem: string): ServiceError =>
  fail('invalid_field', { field, problem });
