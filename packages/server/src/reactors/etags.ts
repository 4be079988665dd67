import { fail } from '../errors.ts';

/** The strong entity tag (RFC 9110 8.8.3) of a version. */
export const etagOf = (version: number): string => `"${version}"`;

const listOfTags = /^\s*(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*\s*$/;

/**
 * The tags of If-Match. Undefined: any will do, since there is none or it is `*`. A weak tag never matches (RFC 9110
 * 13.1.1), so it is left out.
 */
export function readIfMatch(header: string | undefined): ReadonlySet<string> | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  if (!listOfTags.test(header))
    throw fail('invalid_field', {
      field: 'If-Match',
      problem: 'takes the ETag of the state, in its double quotes, or *',
    });
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return new Set(tags.filter((tag) => !tag.startsWith('W/')));
}
