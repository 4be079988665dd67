import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { readPage } from '../contract/page.ts';
import type { PermissionLevel } from '../contract/permission-level.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import {
  answerSearch,
  readSearchPage,
  SearchReply,
  searchFields,
  termsDescription,
} from '../filters/search-reply.ts';
import { readWanted } from '../filters/terms.ts';
import type { Execution } from './execution.ts';
import {
  type AccessParts,
  type OwnedExecution,
  unknownExecution,
  visibleExecution,
} from './execution-access.ts';
import { listExecutions, totalsOf } from './execution-list.ts';
import {
  ExecutionList,
  ExecutionRecord,
  executionRecord,
  listedExecution,
} from './execution-record.ts';
import { executionFields, searchExecutions } from './execution-search.ts';
import { ownerAddress, reactorAddress } from './links.ts';

export interface ExecutionRoutesParts extends AccessParts {
  readonly baseUrl: () => string;
  /** Asks a running execution to stop. False: it does not run, or does so no more. */
  readonly halt: (execution: Execution, by: string) => Promise<boolean>;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });
const NamedExecution = Type.Object({ reactorId: Type.String(), executionId: Type.String() });

/** What a message is to those who read it back. */
const mediaTypes: Readonly<Record<Execution['contentType'], string>> = {
  str: 'text/plain; charset=utf-8',
  'application/json': 'application/json; charset=utf-8',
  'application/octet-stream': 'application/octet-stream',
};

/** The executions of a reactor: list, record, message, halt. */
export function executionRoutes(parts: ExecutionRoutesParts): FastifyPluginAsyncTypebox {
  const { store, baseUrl, halt } = parts;
  const visible = (
    request: FastifyRequest<{ Params: Static<typeof NamedExecution> }>,
    needs: PermissionLevel,
  ): Promise<OwnedExecution> => {
    const { reactorId, executionId } = request.params;
    return visibleExecution(parts, callerOf(request), reactorId, executionId, needs);
  };

  return underBothSpellings(async (app) => {
    app.get(
      '/:reactorId/executions',
      {
        config: {
          access,
          answer: 'enveloped',
          message: 'Actor executions retrieved successfully.',
        },
        schema: {
          tags: ['Executions'],
          summary: 'List the executions of a reactor',
          description:
            'Newest first, with the sums over all of them. `_links.next` and the header Link have the address of the ' +
            'next page (rel="next"), which goes on from a cursor and costs the same on every page; offset counts from the ' +
            `start.\n\nWith search terms the answer is that of \`/actors/v2/search/executions\`. ${termsDescription}`,
          params: NamedReactor,
          querystring: Type.Object(searchFields),
          response: {
            200: Type.Union([ExecutionList, SearchReply('FoundExecutions', ExecutionRecord)]),
          },
        },
      },
      async (request, reply) => {
        const wanted = readWanted(request.query, executionFields);
        if (wanted.isSearch) {
          const { reactorId } = await totalsOf(parts, callerOf(request), request.params.reactorId);
          const place = readSearchPage(request.query);
          const hits = await searchExecutions(store, { reactorId }, wanted, place);
          const self = `${reactorAddress(baseUrl(), reactorId)}/executions`;
          const question = { self, query: request.query, reply };
          return answerSearch(question, place, hits, (hit) => executionRecord(hit, baseUrl()));
        }
        const cursor = readCursor(request.query.cursor);
        if (cursor !== undefined && request.query.offset !== undefined)
          throw fail('invalid_field', { field: 'offset', problem: 'cannot go with a cursor' });
        const totals = await totalsOf(parts, callerOf(request), request.params.reactorId);
        const { reactorId } = totals;
        const page = readPage(request.query);
        const found = await listExecutions(store, reactorId, { ...page, below: cursor });
        const shown = found.slice(0, page.limit);
        const self = `${reactorAddress(baseUrl(), reactorId)}/executions`;
        const last = found.length > page.limit ? shown.at(-1) : undefined;
        const next = last && `${self}?limit=${page.limit}&cursor=${last.seq}`;
        if (next !== undefined) reply.header('link', `<${next}>; rel="next"`);
        return {
          actorId: reactorId,
          apiServer: baseUrl(),
          owner: totals.owner,
          totalExecutions: totals.executions,
          totalCpu: totals.cpu,
          totalIo: totals.io,
          totalRuntime: totals.runtime,
          executions: shown.map(listedExecution),
          _links: {
            owner: ownerAddress(baseUrl(), totals.owner),
            self,
            ...(next !== undefined && { next }),
          },
        };
      },
    );

    app.get(
      '/:reactorId/executions/:executionId',
      {
        config: { access, answer: 'enveloped', message: 'Actor execution retrieved successfully.' },
        schema: {
          tags: ['Executions'],
          summary: 'Show an execution',
          description:
            'What is not known yet is null: the exit code and the final state before the end. Those of a deleted ' +
            'reactor stay readable for its owner until the records are too old to be kept.',
          params: NamedExecution,
          response: { 200: ExecutionRecord },
        },
      },
      async (request) => executionRecord(await visible(request, 'READ'), baseUrl()),
    );

    app.get(
      '/:reactorId/executions/:executionId/message',
      {
        config: { access },
        schema: {
          tags: ['Executions'],
          summary: 'The message of an execution',
          description:
            'The bytes that were posted, as text, as JSON, or as application/octet-stream.',
          params: NamedExecution,
          produces: ['application/octet-stream'],
          response: {
            200: Type.Unsafe<Buffer>({
              type: 'string',
              format: 'binary',
              description: 'The message as it was posted.',
              examples: ['hello'],
            }),
          },
        },
      },
      async (request, reply) => {
        const { execution } = await visible(request, 'READ');
        const message = await store.read
          .selectFrom('messages')
          .select('body')
          .where('execution_id', '=', execution.id)
          .executeTakeFirst();
        if (message === undefined) throw unknownExecution(execution.id);
        return reply.type(mediaTypes[execution.contentType]).send(Buffer.from(message.body));
      },
    );

    app.delete(
      '/:reactorId/executions/:executionId',
      {
        config: { access, answer: 'enveloped', message: 'The execution has been asked to stop.' },
        schema: {
          tags: ['Executions'],
          summary: 'Halt an execution',
          description:
            'Asks the container to stop, and kills it after the grace. The execution then becomes COMPLETE, with ' +
            'finalState.Error saying who halted it. 409 when it does not run.',
          params: NamedExecution,
          response: { 200: Type.Null() },
        },
      },
      async (request) => {
        const { execution } = await visible(request, 'UPDATE');
        const { userId, username } = callerOf(request);
        const { id, status } = execution;
        if (status !== 'RUNNING' || !(await halt(execution, username)))
          throw fail('conflict', {
            problem: `The execution ${id} does not run${status === 'SUBMITTED' ? ' yet' : ' any more'}; only a running one can be halted.`,
          });
        request.log.info({ execution: id, user: userId }, 'execution halted');
        return null;
      },
    );
  });
}

function readCursor(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(given)) return Number(given);
  throw fail('invalid_field', {
    field: 'cursor',
    problem: 'takes the cursor in the address of the next page',
  });
}
