import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type Caller, callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { admit } from './admit.ts';
import { BodyRoom, limitLargeBodies } from './body-room-routes.ts';
import { isBatchType, isPlain, limitsOf } from './delivery.ts';
import { shownTime } from './execution-time.ts';
import { executorOf, fieldsOf, type Posted, type PostParts, postMore } from './inbox-delivery.ts';
import {
  AnsweredMessage,
  InboxRecord,
  PostedBatch,
  PostedMessage,
  PurgedInbox,
} from './inbox-records.ts';
import { secondsToWait } from './inbox-waiting.ts';
import { type InboxWaitingParts, postAndWait, sendPosted } from './inbox-waiting-routes.ts';
import { executionAddress, ownerAddress, reactorAddress } from './links.ts';
import { readMessage } from './message.ts';
import { readOverrides } from './overrides.ts';
import { countDelayed, countWaiting, dropWaiting, peekWaiting } from './waiting.ts';

export interface InboxRoutesParts extends PostParts, InboxWaitingParts {
  readonly reactors: Pick<Reactors, 'forCaller' | 'rememberedFor'>;
  readonly config: PostParts['config'] & {
    readonly message_limit: number;
    readonly wait_limit: number;
    readonly message_memory: number;
  };
  /** An execution has ended without having run. */
  readonly onDropped: (executionId: string) => void;
}

const usualTypes = [
  'application/x-www-form-urlencoded',
  'application/json',
  'application/octet-stream',
  'text/plain',
  'application/x-ndjson',
  'application/cloudevents+json',
  'application/cloudevents-batch+json',
];

const NamedReactor = Type.Object({ reactorId: Type.String() });

/** The inbox of a reactor: post a message, see what waits, purge it. */
export function inboxRoutes(parts: InboxRoutesParts): FastifyPluginAsyncTypebox {
  const room = new BodyRoom(parts.config.message_memory);
  return underBothSpellings(async (app) => {
    takeBytes(app);
    limitLargeBodies(app, room, parts.config.message_limit);

    app.post(
      '/:reactorId/messages',
      {
        bodyLimit: parts.config.message_limit,
        config: {
          access,
          answer: 'enveloped',
          message: 'The request was successful.',
          bodyExample: { message: 'hello' },
        },
        schema: {
          tags: ['Executions'],
          summary: 'Post a message',
          description: postDescription,
          consumes: usualTypes,
          params: NamedReactor,
          querystring: Type.Object({
            message: Type.Optional(
              Type.Unknown({ description: 'The message as a raw string, instead of a body.' }),
            ),
            delay: Type.Optional(
              Type.Unknown({
                description:
                  'After how many seconds the message enters the order of receipt. Others are not held up by it.',
                examples: [60],
              }),
            ),
            wait: Type.Optional(
              Type.Unknown({
                description: `Hold the reply until the first result or the end, for at most so many seconds (up to ${parts.config.wait_limit}).`,
              }),
            ),
            _svc_synchronous: Type.Optional(
              Type.Unknown({
                description: 'true: hold the reply as `wait` does, as long as the service allows.',
              }),
            ),
          }),
          response: { 200: AnsweredMessage, 201: Type.Union([PostedMessage, PostedBatch]) },
        },
      },
      async (request, reply) => {
        const seconds = secondsToWait(request.query, parts.config.wait_limit);
        const { reactorId } = request.params;
        if (seconds !== undefined) {
          refuseWaitForMany(request);
          return postAndWait(parts, reply, seconds, () => post(parts, request, reactorId));
        }
        return sendPosted(reply, await post(parts, request, reactorId));
      },
    );

    app.get(
      '/:reactorId/messages',
      {
        config: { access, answer: 'enveloped', message: 'The request was successful.' },
        schema: {
          tags: ['Executions'],
          summary: 'See what waits in the inbox',
          description:
            'How many messages wait; with `peek` also the oldest of them, in the order in which they will run. The ' +
            'one that runs is not counted.',
          params: NamedReactor,
          querystring: Type.Object({
            peek: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 1000,
                description: 'How many of the oldest to show.',
                allows: 'a whole number from 1 to 1000',
              }),
            ),
          }),
          response: { 200: InboxRecord },
        },
      },
      (request) => show(parts, callerOf(request), request.params.reactorId, request.query.peek),
    );

    app.delete(
      '/:reactorId/messages',
      {
        config: { access, answer: 'enveloped', message: 'The request was successful.' },
        schema: {
          tags: ['Executions'],
          summary: 'Purge the inbox',
          description:
            'Drops every message that waits; their executions end as ERROR, with a statusMessage that says who purged ' +
            'them. What runs goes on, and messages that arrive meanwhile stay.',
          params: NamedReactor,
          response: { 200: PurgedInbox },
        },
      },
      (request) => purge(parts, request, request.params.reactorId),
    );
  });
}

/** The body as it came: whoever parses JSON here would lose the text that the container is to get. */
function takeBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // The usual ones by name: those that fall under the star are taken apart anew at each request.
  app.addContentTypeParser([...usualTypes, '*'], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
}

async function post(
  parts: InboxRoutesParts,
  request: FastifyRequest,
  name: string,
): Promise<Posted> {
  const caller = callerOf(request);
  const reactor =
    parts.reactors.rememberedFor(caller, name, 'EXECUTE') ??
    (await parts.reactors.forCaller(caller, name, 'EXECUTE'));
  const reactorId = reactor.id;
  refuseEncoding(request);
  const { message: queryMessage, ...query } = fieldsOf(request.query);
  const limits = limitsOf(reactor, parts.config);
  if (!isPlain(request.headers, query['delay'], limits))
    return postMore(parts, request, reactor, limits);
  const read = readMessage({
    contentType: request.headers['content-type'],
    body: Buffer.isBuffer(request.body) ? request.body : new Uint8Array(),
    queryMessage,
  });
  const message = read instanceof Promise ? await read : read;
  const environment = readOverrides(query, parts.config.second_prefix);
  const executionId = await admit(parts.store, {
    reactorId,
    executor: executorOf(caller),
    message,
    environment,
  });
  parts.onAdmitted(reactorId);
  const baseUrl = parts.baseUrl();
  return {
    posted: {
      executionId,
      msg: message.shown,
      _links: {
        self: executionAddress(baseUrl, reactorId, executionId),
        owner: ownerAddress(baseUrl, reactor.ownerUsername),
        messages: `${reactorAddress(baseUrl, reactorId)}/messages`,
      },
    },
    repeated: false,
  };
}

async function show(
  parts: InboxRoutesParts,
  caller: Caller,
  name: string,
  peek: number | undefined,
): Promise<Static<typeof InboxRecord>> {
  const reactor = await parts.reactors.forCaller(caller, name, 'READ');
  const { id: reactorId, ownerUsername } = reactor;
  const messages = await countWaiting(parts.store, reactorId);
  const delayed = await countDelayed(parts.store, reactorId);
  const waiting = peek === undefined ? undefined : await peekWaiting(parts.store, reactorId, peek);
  return {
    messages,
    delayed,
    ...(waiting !== undefined && {
      waiting: waiting.map(({ executionId, receivedAt, contentType, size }) => ({
        executionId,
        receivedTime: shownTime(receivedAt),
        contentType,
        size,
      })),
    }),
    _links: inboxLinks(parts.baseUrl(), reactorId, ownerUsername),
  };
}

async function purge(
  parts: InboxRoutesParts,
  request: FastifyRequest,
  name: string,
): Promise<Static<typeof PurgedInbox>> {
  const caller = callerOf(request);
  const { userId, username } = caller;
  const reactor = await parts.reactors.forCaller(caller, name, 'UPDATE');
  const { id: reactorId, ownerUsername } = reactor;
  const words = `dropped: ${username} purged the inbox before it ran`;
  const dropped = await dropWaiting(parts.store, reactorId, words, parts.onDropped);
  request.log.info({ reactor: reactorId, user: userId, dropped }, 'inbox purged');
  return {
    msg: 'Actor mailbox purged.',
    dropped,
    _links: inboxLinks(parts.baseUrl(), reactorId, ownerUsername),
  };
}

function inboxLinks(baseUrl: string, reactorId: string, owner: string) {
  return {
    self: `${reactorAddress(baseUrl, reactorId)}/messages`,
    owner: ownerAddress(baseUrl, owner),
  };
}

/** A batch has many answers, and a reply has room for one. */
function refuseWaitForMany(request: FastifyRequest): void {
  if (!isBatchType(request.headers['content-type'])) return;
  throw fail('invalid_field', {
    field: 'wait',
    problem: 'cannot go with a batch: read the results of its executions afterwards',
  });
}

function refuseEncoding(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw fail('unsupported_content_type', {
    contentType: `with Content-Encoding ${encoding.slice(0, 40)}`,
    accepted: 'bodies that are not compressed',
  });
}

const postDescription = [
  'Keeps the message and answers; the reply means that it will run, also across a crash of the service.',
  '',
  '- A field `message` (of a form, a JSON object or the query) is a raw string; other fields beside it are not delivered.',
  '- `application/octet-stream` is bytes.',
  '- `application/json` is JSON: the container gets the text as it was sent.',
  '- Any other text is a raw string.',
  '',
  'A query parameter named after a key of `default_environment` replaces its value for this execution; other names are',
  'added to the environment. Names that begin with `_svc_` or `LD_`, `MSG` and `PATH` are refused.',
  '',
  'The header `Idempotency-Key` (1 to 255 visible characters of your choice): a request with the same key again gets the',
  'first reply, with the header `Idempotency-Replayed: true`, and makes nothing new, for a day unless the operator says',
  'otherwise. The same key with another message: 422.',
  '',
  'A batch (`application/x-ndjson`) has a message on each line, understood as it would be alone as JSON. All are accepted,',
  'in the order of the lines, or none; the reply lists their executions in that order.',
  '',
  'A CloudEvent (`application/cloudevents+json`, or headers `ce-id`, `ce-source`, `ce-specversion` and `ce-type` beside the',
  'data; several as `application/cloudevents-batch+json`) is delivered as its data: JSON as JSON, text as a raw string,',
  'anything else as bytes, and an empty string where there is none. Its attributes are the variables `_svc_ce_id`,',
  '`_svc_ce_source`, `_svc_ce_type` and so on, extensions too. An event that comes twice runs twice, unless it comes with a',
  'key.',
  '',
  'The container finds the message in the variable `MSG`. Bytes, a message over 128 KiB and one with a NUL character',
  'cannot be a variable: they are the file `/_svc_binary_data`, which `_svc_message_file` names, and `MSG` is absent.',
  '',
  'With `wait` the reply is held until the execution has given its first result, which is then the body (200,',
  '`application/octet-stream`) and counts as taken; or until it is over without one: then the body is its log, as text. The',
  'headers X-Execution-Id, X-Execution-Status and X-Exit-Code say which and how. When the time passes first, the reply is',
  'the usual one, 201. A client that leaves stops nothing.',
].join('\n');
