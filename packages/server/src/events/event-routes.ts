import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { callerOf, isAdmin } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { readLastEvent, sendEvents, whenLeft } from '../contract/server-sent-events.ts';
import { fail } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { type EventType, eventTypes } from '../store/event-tables.ts';
import { EventPayload } from './event.ts';
import type { EventFollowing } from './event-following.ts';

export interface EventRoutesParts {
  readonly following: EventFollowing;
  readonly reactors: Pick<Reactors, 'forCaller'>;
  /** Whether the credentials that opened the stream still open it. */
  readonly stillAllowed: (request: FastifyRequest) => boolean | Promise<boolean>;
}

/** The live stream of what happens to a user's reactors and executions. */
export function eventRoutes(parts: EventRoutesParts): FastifyPluginAsyncTypebox {
  const { following, reactors, stillAllowed } = parts;
  const routes = underBothSpellings(async (app) => {
    app.get(
      '/events',
      {
        config: { access },
        schema: {
          tags: ['Events'],
          summary: 'Follow events as they happen',
          description,
          querystring: Type.Object({
            reactor: Type.Optional(
              Type.String({ description: 'Only those of this reactor, by id or alias.' }),
            ),
            type: Type.Optional(
              Type.String({
                description: 'Only those of this type, or of these, separated by commas.',
                allows: `one or more of ${eventTypes.join(', ')}`,
              }),
            ),
            after: Type.Optional(
              Type.Integer({
                minimum: 0,
                allows: 'the id of an event',
                description:
                  'Begin behind the event of this id, as the header Last-Event-ID does; 0: with the oldest that is kept.',
              }),
            ),
            all: Type.Optional(
              Type.Boolean({
                allows: 'true or false',
                description: 'For admins: true follows the events of all users.',
              }),
            ),
          }),
          produces: ['text/event-stream'],
          response: { 200: EventPayload },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { reactor, type, after, all = false } = request.query;
        if (all && !isAdmin(caller))
          throw fail('not_allowed', {
            problem: 'all: only admins may follow the events of all users.',
          });
        const named =
          reactor === undefined ? undefined : await reactors.forCaller(caller, reactor, 'READ');
        const wish = {
          types: type === undefined ? undefined : readTypes(type),
          after: readLastEvent(request) ?? after,
          reactorId: named?.id,
          // Of a reactor that one may read, one may hear, whoever owns it.
          ownerId: named?.ownerId ?? (all ? undefined : caller.userId),
          stillAllowed: () => stillAllowed(request),
        };
        return sendEvents(reply, following.events(wish, whenLeft(reply)));
      },
    );
  });
  return async (app) => {
    // A stream would otherwise hold up the stop for ever.
    app.addHook('preClose', async () => following.stop());
    await app.register(routes);
  };
}

function readTypes(given: string): readonly EventType[] {
  return given.split(',').map((word) => {
    const name = word.trim().toUpperCase();
    const known = eventTypes.find((type) => type === name);
    if (known !== undefined) return known;
    const near = nearest(name, eventTypes);
    throw fail('invalid_field', {
      field: 'type',
      problem: `takes one or more of ${eventTypes.join(', ')}${near === undefined ? '' : ` (did you mean ${near}?)`}`,
    });
  });
}

const description = [
  'Server-sent events: what happens from now on to your reactors and their executions, in all processes of the service.',
  'Each is `event: EXECUTION_COMPLETE` (or another type) with `id: <number>` and the event as JSON in `data`. Ids rise. A',
  'client that lost the connection goes on with the header Last-Event-ID, as far back as events are kept. A comment line',
  'keeps the connection alive. The stream ends when the token does.',
  '',
  'Types: `ACTOR_READY`, `ACTOR_ERROR`, `EXECUTION_STARTED`, `EXECUTION_COMPLETE`, `EXECUTION_ERROR`.',
].join('\n');
