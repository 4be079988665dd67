import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { type Caller, callerOf, isAdmin } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import { ExecutionRecord, executionRecord } from '../executions/execution-record.ts';
import { executionFields, type Scope, searchExecutions } from '../executions/execution-search.ts';
import { executionAddress, ownerAddress } from '../executions/links.ts';
import type { LogStore } from '../executions/log-store.ts';
import { type WorkerListParts, WorkerRecord } from '../executions/worker-records.ts';
import {
  answerSearch,
  readSearchPage,
  SearchReply,
  searchFields,
  termsDescription,
} from '../filters/search-reply.ts';
import { readWanted, type Wanted } from '../filters/terms.ts';
import { ReactorRecord, reactorRecord } from '../reactors/reactor-record.ts';
import { reactorFields, searchReactors } from '../reactors/reactor-search.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { mostSharedSearched, sharedWith } from '../reactors/visible-reactors.ts';
import type { Store } from '../store/store.ts';
import { searchLogs } from './log-search.ts';
import { searchWorkers, workerFields } from './worker-search.ts';

export interface SearchRoutesParts {
  readonly store: Store;
  readonly logs: LogStore;
  readonly reactors: Pick<Reactors, 'forCaller'>;
  readonly config: Config;
  readonly baseUrl: () => string;
  readonly workers: WorkerListParts['workers'];
}

const FoundLog = Type.Object({
  actorId: Type.String(),
  executionId: Type.String(),
  logs: Type.String({
    description: 'The lines with what was looked for; without `search`, the beginning of the log',
  }),
  _links: Type.Object({ execution: Type.String(), owner: Type.String(), self: Type.String() }),
});

const Asked = Type.Object({
  ...searchFields,
  all: Type.Optional(
    Type.Boolean({
      allows: 'true or false',
      description: 'For admins: true searches among everything of all users.',
    }),
  ),
});

/** Search among everything that the caller may see. */
export function searchRoutes(parts: SearchRoutesParts): FastifyPluginAsyncTypebox {
  const { store, logs, reactors, config, baseUrl } = parts;

  /** Among whose view it is searched: the caller's, or an admin's of everything. */
  const viewOf = (caller: Caller, all = false): string | undefined => {
    if (all && !isAdmin(caller))
      throw fail('not_allowed', {
        problem: "all: only admins may search among all users' reactors.",
      });
    return all ? undefined : caller.userId;
  };

  /** With one reactor named, its executions, whoever owns it; otherwise what the caller may read. */
  const scopeOf = async (caller: Caller, wanted: Wanted, all?: boolean): Promise<Scope> => {
    const ownerId = viewOf(caller, all);
    const named = wanted.terms.find(
      ({ name, operator }) => name === 'actorId' && operator === 'eq',
    );
    const reactor =
      named === undefined
        ? undefined
        : await reactors.forCaller(caller, String(named.values[0]), 'READ').catch(() => undefined);
    if (reactor !== undefined) return { reactorId: reactor.id, ownerId: reactor.ownerId };
    return ownerId === undefined ? {} : { ownerId, shared: await sharedWith(store.read, ownerId) };
  };

  const asked = (type: string, query: object, reply: FastifyReply) => ({
    self: `${baseUrl()}/actors/v2/search/${type}`,
    query,
    reply,
  });

  const described = { tags: ['Search'], description: termsDescription, querystring: Asked };
  const answered = {
    access,
    answer: 'enveloped',
    message: 'Search completed successfully.',
  } as const;

  return underBothSpellings(async (app) => {
    app.get(
      '/search/actors',
      {
        config: answered,
        schema: {
          ...described,
          summary: 'Search reactors',
          response: { 200: SearchReply('FoundReactors', ReactorRecord) },
        },
      },
      async (request, reply) => {
        const wanted = readWanted(request.query, reactorFields);
        const page = readSearchPage(request.query);
        const userId = viewOf(callerOf(request), request.query.all);
        const found = await searchReactors(store, userId, wanted, page);
        const question = asked('actors', request.query, reply);
        return answerSearch(question, page, found, (reactor) =>
          reactorRecord(reactor, config, baseUrl()),
        );
      },
    );

    app.get(
      '/search/executions',
      {
        config: answered,
        schema: {
          ...described,
          summary: 'Search executions',
          description: `${sharedDescription}\n\n${termsDescription}`,
          response: { 200: SearchReply('FoundExecutions', ExecutionRecord) },
        },
      },
      async (request, reply) => {
        const wanted = readWanted(request.query, executionFields);
        const page = readSearchPage(request.query);
        const scope = await scopeOf(callerOf(request), wanted, request.query.all);
        const found = await searchExecutions(store, scope, wanted, page);
        const question = asked('executions', request.query, reply);
        return answerSearch(question, page, found, (one) => executionRecord(one, baseUrl()));
      },
    );

    app.get(
      '/search/workers',
      {
        config: answered,
        schema: {
          ...described,
          summary: 'Search workers',
          description: `The places in which executions run, as the lists of each reactor show them.\n\n${termsDescription}`,
          response: {
            200: SearchReply('FoundWorkers', WorkerRecord),
          },
        },
      },
      async (request, reply) => {
        const wanted = readWanted(request.query, workerFields);
        const page = readSearchPage(request.query);
        const userId = viewOf(callerOf(request), request.query.all);
        const found = await searchWorkers(parts, userId, wanted, page);
        const question = asked('workers', request.query, reply);
        return answerSearch(question, page, found, (worker) => worker);
      },
    );

    app.get(
      '/search/logs',
      {
        config: answered,
        schema: {
          ...described,
          summary: 'Search logs',
          description: `${logsDescription}\n\n${sharedDescription}\n\n${termsDescription}`,
          response: {
            200: SearchReply('FoundLogs', FoundLog, {
              actorId: 'hK3vXmPq8RnW2d',
              executionId: 'wq7PeV3mcNz4Ta',
              logs: 'error: no such file',
              _links: {
                execution:
                  'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta',
                owner: 'https://reactors.example.org/profiles/v2/ada',
                self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta/logs',
              },
            }),
          },
        },
      },
      async (request, reply) => {
        const wanted = readWanted(request.query, executionFields);
        const page = readSearchPage(request.query);
        const scope = await scopeOf(callerOf(request), wanted, request.query.all);
        const found = await searchLogs(store, logs, scope, wanted, page);
        const question = asked('logs', request.query, reply);
        return answerSearch(question, page, found, ({ executionId, reactorId, owner, text }) => {
          const execution = executionAddress(baseUrl(), reactorId, executionId);
          return {
            actorId: reactorId,
            executionId,
            logs: text,
            _links: {
              execution,
              owner: ownerAddress(baseUrl(), owner),
              self: `${execution}/logs`,
            },
          };
        });
      },
    );
  });
}

const logsDescription = [
  'The terms choose executions (`actorId`, `status`, `messageReceivedTime` …); `search` and `exactsearch` look into what they wrote.',
  'A page looks through the logs of 200 executions at most, and at the first MiB of each; totalCount is what it found. As long as',
  'the header Link names a next page, there is more to look through.',
].join('\n');

const sharedDescription =
  `Those of your own reactors, and of the ${mostSharedSearched} newest that others have shared with you or with everyone. With ` +
  '`actorId=` those of that reactor, if you may read it.';
