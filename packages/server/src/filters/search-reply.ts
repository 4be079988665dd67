import { type TSchema, Type } from 'typebox';
import { pageFields } from '../contract/page.ts';
import { operators } from './terms.ts';

/** Counting goes no further than this: a search must not cost more the more there is. */
export const mostCounted = 10_000;

export const searchFields = {
  ...pageFields,
  skip: Type.Optional(
    Type.Integer({ minimum: 0, allows: 'a whole number from 0 up', description: 'As offset.' }),
  ),
  search: Type.Optional(
    Type.String({ description: 'Words that must all be found, in whatever field of text.' }),
  ),
  exactsearch: Type.Optional(
    Type.String({ description: 'Text that must be found as it stands, in one field of text.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 100,
      allows: 'the cursor in the Link header of the page before',
      description: 'Where to go on. Costs the same on every page.',
    }),
  ),
};

const Metadata = Type.Object({
  totalCount: Type.Integer({
    description: `How many there are; counted up to ${mostCounted}`,
  }),
  totalIsExact: Type.Boolean({ description: 'False: there are more than were counted' }),
  recordsSkipped: Type.Integer(),
  recordLimit: Type.Integer(),
  countReturned: Type.Integer(),
});

export const SearchReply = <Found extends TSchema>(
  title: string,
  found: Found,
  example: unknown = firstExample(found),
) =>
  Type.Object(
    { _metadata: Metadata, search: Type.Array(found) },
    {
      title,
      ...(example !== undefined && {
        examples: [
          {
            _metadata: {
              totalCount: 1,
              totalIsExact: true,
              recordsSkipped: 0,
              recordLimit: 100,
              countReturned: 1,
            },
            search: [example],
          },
        ],
      }),
    },
  );

function firstExample(found: TSchema): unknown {
  const examples: unknown = Reflect.get(found, 'examples');
  return Array.isArray(examples) ? examples[0] : undefined;
}

export interface FoundPage<Row> {
  readonly rows: readonly Row[];
  readonly counted: number;
  /** Where the next page goes on, if there is one. */
  readonly next: string | undefined;
}

export interface SearchPage {
  readonly limit: number;
  readonly offset: number;
  readonly cursor: string | undefined;
}

export function readSearchPage(query: {
  limit?: number;
  offset?: number;
  skip?: number;
  cursor?: string;
}): SearchPage {
  const { limit = 100, offset, skip, cursor } = query;
  return { limit, offset: skip ?? offset ?? 0, cursor };
}

/** What was asked, and where: the next page is asked in the same way. */
interface Question {
  readonly self: string;
  readonly query: object;
  readonly reply: { header(name: string, value: string): unknown };
}

/** The reply; the address of the next page goes into its header Link. */
export function answerSearch<Row, Shown>(
  { self, query, reply }: Question,
  { limit, offset }: SearchPage,
  { rows, counted, next }: FoundPage<Row>,
  show: (row: Row) => Shown,
) {
  if (next !== undefined) reply.header('link', nextAddress(self, query, limit, next));
  return {
    _metadata: {
      totalCount: Math.min(counted, mostCounted),
      totalIsExact: counted <= mostCounted,
      recordsSkipped: offset,
      recordLimit: limit,
      countReturned: rows.length,
    },
    search: rows.map(show),
  };
}

/** The same question, from where this page ends. */
function nextAddress(self: string, query: object, limit: number, cursor: string): string {
  const kept = Object.entries(query).filter(
    ([name]) => !['limit', 'offset', 'skip', 'cursor'].includes(name),
  );
  const asked = kept.map(([name, value]): [string, string] => [name, String(value)]);
  const more = new URLSearchParams([...asked, ['limit', String(limit)], ['cursor', cursor]]);
  return `<${self}?${more}>; rel="next"`;
}

export const termsDescription = [
  'Terms are `field=value` or `field.op=value`; all must hold. Fields are those of the records, in either spelling.',
  `Operators: ${operators.join(', ')}. \`in\` and \`nin\` take a list (\`a,b\` or JSON), \`between\` two values with a comma. \`like\` and`,
  '`nlike` look for text within the field, whatever the case; `*` stands for anything. Times are in UTC: `2026-01-31` or',
  '`2026-01-31T12:00:00Z`. `none` stands for what is not there. `search` looks for words, `exactsearch` for a text, in all fields of',
  'text. An unknown field is refused. The header Link has the next page.',
].join('\n');
