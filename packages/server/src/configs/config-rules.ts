import { fail } from '../errors.ts';

const mostValueBytes = 64 * 1024;

/** The value as a container gets it: text as it is, and the JSON of everything else. */
export function readValue(given: unknown): string {
  const value = typeof given === 'string' ? given : JSON.stringify(given);
  if (value.includes('\0') || !value.isWellFormed())
    throw invalid('takes text without NUL characters and half characters');
  if (Buffer.byteLength(value) > mostValueBytes)
    throw invalid(`takes at most ${mostValueBytes / 1024} KiB`);
  return value;
}

/** Bytes that it takes in the JSON of all configs. */
export const sizeOf = (name: string, value: string): number =>
  Buffer.byteLength(JSON.stringify({ [name]: value }));

const invalid = (problem: string) => fail('invalid_field', { field: 'value', problem });
