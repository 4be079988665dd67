import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, isAdmin } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import { fail } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { findEntries } from './audit-entries.ts';

interface Parts {
  readonly store: Store;
  readonly baseUrl: () => string;
}

const AuditEntry = Type.Object(
  {
    id: Type.String(),
    time: Type.String({ format: 'date-time' }),
    user: Type.String({ description: 'The username; empty where nobody was known' }),
    client: Type.String({ description: 'The application' }),
    address: Type.String({ description: 'Where the request came from' }),
    action: Type.String({ description: 'The summary of the operation' }),
    method: Type.String(),
    resource: Type.String(),
    status: Type.Integer({ description: 'The HTTP status of the answer' }),
    requestId: Type.String(),
  },
  {
    title: 'AuditEntry',
    examples: [
      {
        id: 'wq7PeV3mcNz4Ta',
        time: '2026-01-31T12:00:00.000Z',
        user: 'ada',
        client: 'my-scripts',
        address: '192.0.2.7',
        action: 'Delete a reactor',
        method: 'DELETE',
        resource: '/actors/v2/hK3vXmPq8RnW2d',
        status: 200,
        requestId: '01JABCDEF',
      },
    ],
  },
);

const text = (description: string) =>
  Type.Optional(
    Type.String({ maxLength: 256, pattern: '^[^\\u0000]*$', allows: 'text', description }),
  );

const time = (description: string) =>
  Type.Optional(
    Type.String({
      pattern:
        '^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)?)?$',
      allows: 'a day or a time such as 2026-01-31T12:00:00Z',
      description,
    }),
  );

/** Who did what, for admins. */
export function auditRoutes({ store, baseUrl }: Parts): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/audit/v2',
      {
        config: {
          access: { api: 'Profiles' },
          answer: 'enveloped',
          message: 'Audit entries retrieved successfully.',
        },
        schema: {
          tags: ['Operations'],
          summary: 'See who did what',
          description:
            'For admins. Every operation that changes something, and every login: who, when, from where, on what, and how ' +
            'it ended; refused ones included. Newest first; the header Link has the next page. Messages are not in it: ' +
            'their executions say who posted them.',
          querystring: Type.Object({
            ...pageFields,
            user: text('Only what this user did.'),
            action: text('Only this action, as it stands in the entries.'),
            resource: text('Only resources whose address begins so.'),
            from: time('Only entries from this time on. UTC, unless it has an offset.'),
            to: time('Only entries before this time.'),
            cursor: Type.Optional(
              Type.String({
                pattern: '^[0-9A-Za-z]{1,32}$',
                allows: 'the cursor in the address of the next page',
                description: 'Where to go on, as the header Link of the page before says.',
              }),
            ),
          }),
          response: { 200: Type.Array(AuditEntry) },
        },
      },
      async (request, reply) => {
        if (!isAdmin(callerOf(request)))
          throw fail('not_allowed', { problem: 'Only admins may see who did what.' });
        const { limit, offset, from, to, cursor, ...named } = request.query;
        const page = readPage({ ...(limit && { limit }), ...(offset && { offset }) });
        const rows = await findEntries(store, {
          ...page,
          ...named,
          ...(from !== undefined && { from: readTime('from', from) }),
          ...(to !== undefined && { to: readTime('to', to) }),
          ...(cursor !== undefined && { after: cursor }),
        });
        const shown = rows.slice(0, page.limit);
        const last = rows.length > page.limit ? shown.at(-1) : undefined;
        if (last !== undefined)
          reply.header('link', nextLink(baseUrl(), request.query, page.limit, last.id));
        reply.header('cache-control', 'no-store');
        return shown.map((row) => ({
          id: row.id,
          time: new Date(row.at).toISOString(),
          user: row.username,
          client: row.client,
          address: row.address,
          action: row.action,
          method: row.method,
          resource: row.resource,
          status: row.status,
          requestId: row.request_id,
        }));
      },
    );
  };
}

function nextLink(baseUrl: string, query: object, limit: number, cursor: string): string {
  const { offset: _, ...asked } = { offset: 0, ...query };
  const more = new URLSearchParams({ ...asked, limit: String(limit), cursor });
  return `<${baseUrl}/audit/v2?${more}>; rel="next"`;
}

function readTime(field: string, given: string): number {
  const zoned = /(Z|[+-]\d\d:\d\d)$/.test(given) || given.length === 10 ? given : `${given}Z`;
  const ms = Date.parse(zoned.replace(' ', 'T'));
  if (Number.isNaN(ms))
    throw fail('invalid_field', { field, problem: 'takes a time such as 2026-01-31T12:00:00Z' });
  return ms;
}
