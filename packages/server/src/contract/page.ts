import { Type } from 'typebox';

const usual = 100;
const most = 1000;

/** The query fields of every list. */
export const pageFields = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: most,
      default: usual,
      description: 'How many entries at most.',
      allows: `a whole number from 1 to ${most}`,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'How many entries to leave out first.',
      allows: 'a whole number from 0 up',
    }),
  ),
};

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export function readPage(query: { limit?: number; offset?: number }): Page {
  return { limit: query.limit ?? usual, offset: query.offset ?? 0 };
}
