import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import { type Execution, isOver } from './execution.ts';
import { isExecutionId, visibleExecution } from './execution-access.ts';
import type { ExecutionTokens } from './execution-token.ts';
import type { Executions } from './executions.ts';
import { bearerOf } from './inside.ts';
import { executionAddress } from './links.ts';
import type { KeptResult, Results } from './results.ts';

export interface ResultRoutesParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'byName' | 'forCaller'>;
  readonly executions: Pick<Executions, 'byId'>;
  readonly results: Results;
  readonly tokens: Pick<ExecutionTokens, 'isOf'>;
  readonly config: Pick<Config, 'result_limit'>;
  readonly baseUrl: () => string;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });
const NamedExecution = Type.Object({ reactorId: Type.String(), executionId: Type.String() });

const HowToRead = Type.Object({
  keep: Type.Optional(
    Type.Boolean({ description: 'true: read it and leave it there.', allows: 'true or false' }),
  ),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'With keep: the oldest behind the result of this number, as X-Result-Index said it.',
      allows: 'a whole number from 0 up',
    }),
  ),
});

const GivenResult = Type.Object(
  {
    index: Type.Integer({ description: 'Its number among the results of the execution, from 1' }),
    size: Type.Integer({ description: 'Bytes' }),
    _links: Type.Object({ self: Type.String(), execution: Type.String() }),
  },
  {
    title: 'GivenResult',
    examples: [
      {
        index: 1,
        size: 42,
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta/results',
          execution:
            'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta',
        },
      },
    ],
  },
);

const Bytes = Type.String({
  format: 'binary',
  description: 'The bytes of the result; empty when none is left.',
  examples: ['42\n'],
});

/** What executions give back, and who takes it. */
export function resultRoutes(parts: ResultRoutesParts): FastifyPluginAsyncTypebox {
  const { reactors, results, config, baseUrl } = parts;
  return underBothSpellings(async (app) => {
    takeBytes(app);

    app.get(
      '/:reactorId/executions/:executionId/results',
      {
        config: { access },
        schema: {
          tags: ['Executions'],
          summary: 'Take a result of an execution',
          description,
          produces: ['application/octet-stream'],
          params: NamedExecution,
          querystring: HowToRead,
          response: { 200: Bytes },
        },
      },
      async (request, reply) => {
        const { reactorId, executionId } = request.params;
        const caller = callerOf(request);
        const { execution } = await visibleExecution(parts, caller, reactorId, executionId, 'READ');
        const { keep, after } = request.query;
        return send(reply, execution.id, await read(execution.id, keep, after));
      },
    );

    app.get(
      '/:reactorId/results',
      {
        config: { access },
        schema: {
          tags: ['Executions'],
          summary: 'Take a result of the newest execution that gave any',
          description: `Of the executions of the reactor that gave a result, the newest: the header X-Execution-Id names it. When everything of it is taken, the body is empty, also while older executions have results left. ${description}`,
          produces: ['application/octet-stream'],
          params: NamedReactor,
          querystring: HowToRead,
          response: { 200: Bytes },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { id } = await reactors.forCaller(caller, request.params.reactorId, 'READ');
        const { keep, after } = request.query;
        const newest = await results.newestOf(id);
        const result = newest === undefined ? undefined : await read(newest, keep, after);
        return send(reply, newest, result);
      },
    );

    app.post(
      '/:reactorId/executions/:executionId/results',
      {
        bodyLimit: config.result_limit,
        config: {
          access,
          answer: 'enveloped',
          message: 'The result has been stored.',
          bodyExample: '42\n',
        },
        schema: {
          tags: ['Executions'],
          summary: 'Give a result, from inside the execution',
          description:
            'The body is the result, bytes of any type. Only the execution itself gives results, with the token that it ' +
            'has in `_svc_access_token`, while it runs; as often as it likes, up to the limit of the service (413). A ' +
            'datagram to the socket `/_svc_results.sock` does the same.',
          consumes: ['application/octet-stream'],
          params: NamedExecution,
          response: { 201: GivenResult },
        },
      },
      async (request, reply) => {
        const execution = await ownExecution(parts, request);
        const { body } = request;
        if (!Buffer.isBuffer(body) || body.byteLength === 0)
          throw fail('invalid_field', { field: 'The body', problem: 'is empty: send the result' });
        const index = await results.give(execution, body);
        const address = executionAddress(baseUrl(), execution.reactorId, execution.id);
        const _links = { self: `${address}/results`, execution: address };
        return reply.code(201).send({ index, size: body.byteLength, _links });
      },
    );
  });

  function read(
    executionId: string,
    keep: boolean | undefined,
    after: number | undefined,
  ): Promise<KeptResult | undefined> {
    if (keep === true) return results.peek(executionId, after ?? 0);
    if (after !== undefined)
      throw fail('invalid_field', { field: 'after', problem: 'goes with keep=true only' });
    return results.take(executionId);
  }
}

/** The execution of the path, which must be the one that calls. */
async function ownExecution(
  { store, reactors, executions, tokens }: ResultRoutesParts,
  request: FastifyRequest<{ Params: { reactorId: string; executionId: string } }>,
): Promise<Execution> {
  const caller = callerOf(request);
  const { reactorId, executionId } = request.params;
  const named = isExecutionId(executionId) ? await executions.byId(executionId) : undefined;
  if (named === undefined || !tokens.isOf(named, bearerOf(request))) {
    await visibleExecution({ store, reactors }, caller, reactorId, executionId, 'READ');
    throw fail('not_allowed', {
      problem:
        'Only the execution itself gives results, with the token that its container has in _svc_access_token.',
    });
  }
  // The path may have an alias.
  if (named.reactorId !== reactorId) {
    const { id } = await reactors.forCaller(caller, reactorId, 'READ');
    if (id !== named.reactorId)
      throw fail('unknown_resource', { kind: 'execution', name: executionId });
  }
  if (isOver(named))
    throw fail('conflict', { problem: `The execution ${named.id} is over; it gives no more.` });
  return named;
}

function send(reply: FastifyReply, executionId: string | undefined, result?: KeptResult) {
  reply.type('application/octet-stream').header('cache-control', 'no-store');
  if (executionId !== undefined) reply.header('x-execution-id', executionId);
  if (result !== undefined) reply.header('x-result-index', result.place);
  return reply.send(Buffer.from(result?.body ?? []));
}

function takeBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

const description = [
  'Hands out the oldest result that nobody has taken, once and to nobody else, as it was given; the header X-Result-Index',
  'has its number. The body is empty when none is left. Results can be read while the execution runs, and all of them are',
  'there when it is COMPLETE. With `keep=true` the oldest is read and stays; `after` goes on from there.',
].join('\n');
