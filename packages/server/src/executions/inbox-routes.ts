import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type Caller, callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import { admit } from './admit.ts';
import { BodyRoom, limitLargeBodies } from './body-room-routes.ts';
import { shownTime } from './execution-time.ts';
import { AnsweredMessage, InboxRecord, PostedMessage, PurgedInbox } from './inbox-records.ts';
import { secondsToWait } from './inbox-waiting.ts';
import { type InboxWaitingParts, postAndWait } from './inbox-waiting-routes.ts';
import { executionAddress, ownerAddress, reactorAddress } from './links.ts';
import { readMessage } from './message.ts';
import { readOverrides } from './overrides.ts';
import { countWaiting, dropWaiting, peekWaiting } from './waiting.ts';

export interface InboxRoutesParts extends InboxWaitingParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'forCaller'>;
  readonly config: {
    readonly message_limit: number;
    readonly wait_limit: number;
    readonly message_memory: number;
    readonly second_prefix: string | undefined;
  };
  readonly baseUrl: () => string;
  /** A message has been accepted. */
  readonly onAdmitted: (reactorId: string) => void;
  /** An execution has ended without having run. */
  readonly onDropped: (executionId: string) => void;
}

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
        config: { access, answer: 'enveloped', message: 'The request was successful.' },
        schema: {
          tags: ['Executions'],
          summary: 'Post a message',
          description: postDescription,
          consumes: [
            'application/x-www-form-urlencoded',
            'application/json',
            'application/octet-stream',
            'text/plain',
          ],
          params: NamedReactor,
          querystring: Type.Object({
            message: Type.Optional(
              Type.Unknown({ description: 'The message as a raw string, instead of a body.' }),
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
          response: { 200: AnsweredMessage, 201: PostedMessage },
        },
      },
      async (request, reply) => {
        const seconds = secondsToWait(request.query, parts.config.wait_limit);
        const { reactorId } = request.params;
        if (seconds !== undefined)
          return postAndWait(parts, reply, seconds, () => post(parts, request, reactorId));
        const posted = await post(parts, request, reactorId);
        return reply.code(201).header('location', posted._links.self).send(posted);
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
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

async function post(
  parts: InboxRoutesParts,
  request: FastifyRequest,
  reactorId: string,
): Promise<Static<typeof PostedMessage>> {
  const caller = callerOf(request);
  const reactor = await parts.reactors.forCaller(caller, reactorId, 'EXECUTE');
  refuseEncoding(request);
  const { message: queryMessage, ...query } = fieldsOf(request.query);
  const read = readMessage({
    contentType: request.headers['content-type'],
    body: Buffer.isBuffer(request.body) ? request.body : new Uint8Array(),
    queryMessage,
  });
  const message = read instanceof Promise ? await read : read;
  const environment = readOverrides(query, parts.config.second_prefix);
  const executionId = await admit(parts.store, {
    reactorId,
    executor: {
      userId: caller.userId,
      username: caller.username,
      clientId: clientOf(caller),
    },
    message,
    environment,
  });
  parts.onAdmitted(reactorId);
  const baseUrl = parts.baseUrl();
  return {
    executionId,
    msg: message.shown,
    _links: {
      self: executionAddress(baseUrl, reactorId, executionId),
      owner: ownerAddress(baseUrl, reactor.ownerUsername),
      messages: `${reactorAddress(baseUrl, reactorId)}/messages`,
    },
  };
}

async function show(
  parts: InboxRoutesParts,
  caller: Caller,
  reactorId: string,
  peek: number | undefined,
): Promise<Static<typeof InboxRecord>> {
  const { ownerUsername } = await parts.reactors.forCaller(caller, reactorId, 'READ');
  const messages = await countWaiting(parts.store, reactorId);
  const waiting = peek === undefined ? undefined : await peekWaiting(parts.store, reactorId, peek);
  return {
    messages,
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
  reactorId: string,
): Promise<Static<typeof PurgedInbox>> {
  const { userId, username } = callerOf(request);
  const { ownerUsername } = await parts.reactors.forCaller(callerOf(request), reactorId, 'UPDATE');
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

const clientOf = ({ by }: Caller): string | null =>
  by.kind === 'token' && by.clientId !== '' ? by.clientId : null;

function refuseEncoding(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw fail('unsupported_content_type', {
    contentType: `with Content-Encoding ${encoding.slice(0, 40)}`,
    accepted: 'bodies that are not compressed',
  });
}

function fieldsOf(query: unknown): Readonly<Record<string, unknown>> {
  return typeof query === 'object' && query !== null ? { ...query } : {};
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
  'The container finds the message in the variable `MSG`. Bytes, a message over 128 KiB and one with a NUL character',
  'cannot be a variable: they are the file `/_svc_binary_data`, which `_svc_message_file` names, and `MSG` is absent.',
  '',
  'With `wait` the reply is held until the execution has given its first result, which is then the body (200,',
  '`application/octet-stream`) and counts as taken; or until it is over without one: then the body is its log, as text. The',
  'headers X-Execution-Id, X-Execution-Status and X-Exit-Code say which and how. When the time passes first, the reply is',
  'the usual one, 201. A client that leaves stops nothing.',
].join('\n');
