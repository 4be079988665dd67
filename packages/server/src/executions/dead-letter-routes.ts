import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { type Caller, callerOf } from '../contract/caller.ts';
import { pageFields } from '../contract/page.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { QuotaDefaults } from '../identity/quotas.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import {
  DeadLetters,
  DeletedLetters,
  mostShown,
  ReplayedLetter,
  ReplayedLetters,
} from './dead-letter-records.ts';
import {
  deleteDeadLetter,
  deleteDeadLetters,
  listDeadLetters,
  type Replay,
  replayAll,
  replayOne,
} from './dead-letters.ts';
import { limitsOf } from './delivery.ts';
import { clientOf } from './execution-access.ts';
import { nowInMicroseconds, shownTime } from './execution-time.ts';
import { executionAddress, ownerAddress, reactorAddress } from './links.ts';

export interface DeadLetterRoutesParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'forCaller'>;
  readonly config: QuotaDefaults;
  readonly baseUrl: () => string;
  /** A message has been accepted. */
  readonly onAdmitted: (reactorId: string) => void;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });
const NamedLetter = Type.Object({ reactorId: Type.String(), executionId: Type.String() });

/** Messages whose executions failed for the last time: list, replay, delete. */
export function deadLetterRoutes(parts: DeadLetterRoutesParts): FastifyPluginAsyncTypebox {
  const { store, reactors, config, baseUrl, onAdmitted } = parts;
  const linksOf = ({ id, ownerUsername }: Reactor) => ({
    self: `${reactorAddress(baseUrl(), id)}/dead-letters`,
    owner: ownerAddress(baseUrl(), ownerUsername),
  });
  const replayFor = (caller: Caller, reactor: Reactor): Replay => ({
    reactorId: reactor.id,
    executor: { userId: caller.userId, username: caller.username, clientId: clientOf(caller) },
    limits: limitsOf(reactor, config),
  });

  return underBothSpellings(async (app) => {
    app.get(
      '/:reactorId/dead-letters',
      {
        config: { access, answer: 'enveloped', message: 'Dead letters retrieved successfully.' },
        schema: {
          tags: ['Executions'],
          summary: 'List the dead letters',
          description:
            'Messages whose executions failed, with all the retries that the reactor allows: an exit code other than 0, ' +
            'out of time, lost, or not to be run at all. What was halted or purged is not among them. Newest first; ' +
            '`_links.next` and the header Link have the address of the next page. They are kept as long as the operator says. ' +
            'Needs READ.',
          params: NamedReactor,
          querystring: Type.Object({
            limit: pageFields.limit,
            cursor: Type.Optional(
              Type.Integer({
                minimum: 1,
                allows: 'the cursor in the address of the next page',
                description: 'Where to go on.',
              }),
            ),
          }),
          response: { 200: DeadLetters },
        },
      },
      async (request, reply) => {
        const { limit = 100, cursor } = request.query;
        const { reactorId } = request.params;
        const reactor = await reactors.forCaller(callerOf(request), reactorId, 'READ');
        const found = await listDeadLetters(store, reactor.id, limit + 1, cursor);
        const shown = found.slice(0, limit);
        const links = linksOf(reactor);
        const last = found.length > limit ? shown.at(-1) : undefined;
        const next = last && `${links.self}?limit=${limit}&cursor=${last.seq}`;
        if (next !== undefined) reply.header('link', `<${next}>; rel="next"`);
        return {
          deadLetters: shown.map(({ executionId, diedAt, seq: _, ...letter }) => ({
            executionId,
            time: shownTime(diedAt),
            ...letter,
            _links: {
              self: `${links.self}/${executionId}`,
              execution: executionAddress(baseUrl(), reactor.id, executionId),
            },
          })),
          _links: { ...links, ...(next !== undefined && { next }) },
        };
      },
    );

    app.post(
      '/:reactorId/dead-letters/:executionId',
      {
        config: { access, answer: 'enveloped', message: 'The message will run again.' },
        schema: {
          tags: ['Executions'],
          summary: 'Replay a dead letter',
          description:
            'Its message takes the next place in the order, as a new execution of the caller, and it is no dead letter ' +
            'any more. Replayed twice at once, it runs once: the second answer is 404. Needs UPDATE.',
          params: NamedLetter,
          response: { 201: ReplayedLetter },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { reactorId, executionId: replayOf } = request.params;
        const reactor = await reactors.forCaller(caller, reactorId, 'UPDATE');
        const admitted = await ifNamed(replayOf, (id) =>
          replayOne(store, replayFor(caller, reactor), id),
        );
        const executionId = admitted?.executionIds[0];
        if (executionId === undefined) throw unknownLetter(replayOf);
        onAdmitted(reactor.id);
        const self = executionAddress(baseUrl(), reactor.id, executionId);
        const messages = `${reactorAddress(baseUrl(), reactor.id)}/messages`;
        const { owner } = linksOf(reactor);
        reply.code(201).header('location', self);
        return { executionId, replayOf, _links: { self, owner, messages } };
      },
    );

    app.post(
      '/:reactorId/dead-letters',
      {
        config: { access, answer: 'enveloped', message: 'The messages will run again.' },
        schema: {
          tags: ['Executions'],
          summary: 'Replay all dead letters',
          description:
            'Those that are there now, in the order of their messages, as new executions of the caller. Needs UPDATE.',
          params: NamedReactor,
          response: { 201: ReplayedLetters },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { reactorId } = request.params;
        const reactor = await reactors.forCaller(caller, reactorId, 'UPDATE');
        const executionIds: string[] = [];
        const replay = replayFor(caller, reactor);
        const replayed = await replayAll(store, replay, nowInMicroseconds(), (id) => {
          if (executionIds.length < mostShown) executionIds.push(id);
          onAdmitted(reactor.id);
        });
        reply.code(201);
        return { replayed, executionIds, _links: linksOf(reactor) };
      },
    );

    app.delete(
      '/:reactorId/dead-letters/:executionId',
      {
        config: { access, answer: 'enveloped', message: 'The dead letter has been deleted.' },
        schema: {
          tags: ['Executions'],
          summary: 'Delete a dead letter',
          description: 'The record of its execution stays. Needs UPDATE.',
          params: NamedLetter,
          response: { 200: Type.Null() },
        },
      },
      async (request) => {
        const { reactorId, executionId } = request.params;
        const reactor = await reactors.forCaller(callerOf(request), reactorId, 'UPDATE');
        const done = await ifNamed(executionId, (id) => deleteDeadLetter(store, reactor.id, id));
        if (done !== true) throw unknownLetter(executionId);
        return null;
      },
    );

    app.delete(
      '/:reactorId/dead-letters',
      {
        config: { access, answer: 'enveloped', message: 'The dead letters have been deleted.' },
        schema: {
          tags: ['Executions'],
          summary: 'Delete all dead letters',
          description: 'The records of their executions stay. Needs UPDATE.',
          params: NamedReactor,
          response: { 200: DeletedLetters },
        },
      },
      async (request) => {
        const { reactorId } = request.params;
        const reactor = await reactors.forCaller(callerOf(request), reactorId, 'UPDATE');
        const deleted = await deleteDeadLetters(store, reactor.id, nowInMicroseconds());
        return { deleted, _links: linksOf(reactor) };
      },
    );
  });
}

const idPattern = /^[0-9A-Za-z]{1,32}$/;

/** Other texts name none, and some of them the store could not even be asked for. */
async function ifNamed<Answer>(
  id: string,
  ask: (id: string) => Promise<Answer>,
): Promise<Answer | undefined> {
  return idPattern.test(id) ? ask(id) : undefined;
}

const unknownLetter = (name: string) => fail('unknown_resource', { kind: 'dead letter', name });
