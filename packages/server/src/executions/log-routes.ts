import { randomUUID } from 'node:crypto';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type Caller, callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import {
  boundedStream,
  readLastEvent,
  sendEvents,
  whenLeft,
} from '../contract/server-sent-events.ts';
import { toJson, wrap } from '../contract/wrapping.ts';
import { type AccessParts, isStillReadable, visibleExecution } from './execution-access.ts';
import { executionAddress, ownerAddress } from './links.ts';
import type { LogFollowing } from './log-follow.ts';
import type { LogStore } from './log-store.ts';
import { jsonAround, logText } from './log-text.ts';

export interface LogRoutesParts extends AccessParts {
  readonly logs: LogStore;
  readonly following: LogFollowing;
  readonly baseUrl: () => string;
  /** Who the stream is for at this moment; undefined when what opened it does not open it any more. */
  readonly stillCalling: (request: FastifyRequest) => Promise<Caller | undefined>;
}

const WantedLogs = Type.Object({
  stream: Type.Optional(
    Type.Enum(['stdout', 'stderr'], {
      description: 'Only this stream. Without it both, in the order in which they were written.',
    }),
  ),
  tail: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Only so many of the last lines; with follow: of those that are there already.',
      allows: 'a whole number from 0 up',
    }),
  ),
  follow: Type.Optional(
    Type.Boolean({
      description:
        'true: server-sent events, until the execution is over. So does the header Accept: text/event-stream.',
      allows: 'true or false',
    }),
  ),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'With follow: go on behind the event of this id, as the header Last-Event-ID does.',
      allows: 'the id of an event',
    }),
  ),
});

const LogsRecord = Type.Object(
  {
    logs: Type.String({
      description: 'Everything the container wrote; what is not UTF-8 as U+FFFD',
    }),
    _links: Type.Object({ execution: Type.String(), owner: Type.String(), self: Type.String() }),
  },
  {
    title: 'Logs',
    examples: [
      {
        logs: 'hello\n',
        _links: {
          execution:
            'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta',
          owner: 'https://reactors.example.org/profiles/v2/ada',
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta/logs',
        },
      },
    ],
  },
);

/** The logs of an execution, as they stand or as they come. */
export function logRoutes(parts: LogRoutesParts): FastifyPluginAsyncTypebox {
  const { logs, following, baseUrl } = parts;
  const routes = underBothSpellings(async (app) => {
    app.get(
      '/:reactorId/executions/:executionId/logs',
      {
        config: { access, answer: 'enveloped', message: 'Logs retrieved successfully.' },
        schema: {
          tags: ['Executions'],
          summary: 'The logs of an execution',
          description,
          params: Type.Object({ reactorId: Type.String(), executionId: Type.String() }),
          querystring: WantedLogs,
          response: { 200: LogsRecord },
        },
      },
      async (request, reply) => {
        const { reactorId, executionId } = request.params;
        const { stream, tail, after } = request.query;
        const caller = callerOf(request);
        const found = await visibleExecution(parts, caller, reactorId, executionId, 'READ');
        if (request.query.follow ?? acceptsEvents(request)) {
          const place = readLastEvent(request) ?? after;
          const left = whenLeft(reply);
          const stillAllowed = async () => {
            const now = await parts.stillCalling(request);
            return now !== undefined && isStillReadable(parts, now, reactorId, found.execution);
          };
          const wish = { executionId, stream, tail, after: place, stillAllowed };
          const events = following.events(wish, left);
          return sendEvents(reply, events);
        }
        const execution = executionAddress(baseUrl(), found.execution.reactorId, executionId);
        const text = logText(logs, executionId, { stream, tail });
        return sendLogs(request, reply, text, {
          execution,
          owner: ownerAddress(baseUrl(), found.owner),
          self: `${execution}/logs`,
        });
      },
    );
  });
  return async (app) => {
    // A stream would otherwise hold up the stop for as long as its execution runs.
    app.addHook('preClose', async () => following.stop());
    await app.register(routes);
  };
}

function sendLogs(
  request: FastifyRequest,
  reply: FastifyReply,
  text: AsyncIterable<string>,
  links: Static<typeof LogsRecord>['_links'],
): FastifyReply {
  // A name that nobody else has used: the text is written where it stands.
  const place = randomUUID();
  const json = toJson(request, wrap(request, reply, { logs: place, _links: links }));
  return reply
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(boundedStream(jsonAround(json, place, text)));
}

function acceptsEvents(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/event-stream');
}

const description = [
  'Everything the container wrote to stdout and stderr, in the order in which it wrote it. Logs are kept for the `log_ex`',
  'of the reactor after the end, 24 hours by default; then the text is empty. A log over the limit ends with a line that says',
  'how much was not kept. The token of the execution is shown as `[redacted]`.',
  '',
  'With `follow=true` the answer is a stream of server-sent events: first what there is already, then what comes. Each is',
  '`event: log` with `id: <position>` and `data: {"stream":"stdout","time":"2026-01-31T12:00:00.000Z","text":"a line\\n"}`. The text',
  'has its line end, so that all texts together are the log; a line that was written in pieces comes in pieces. `stream` is',
  '`notice` for the line that says what was not kept. The last event is `event: end` with',
  '`data: {"status":"COMPLETE","exitCode":0}`. A client that lost the connection goes on with the header Last-Event-ID.',
  'The stream ends without that event when the token or the permission does.',
].join('\n');
