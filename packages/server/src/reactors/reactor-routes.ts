import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Config } from '../config.ts';
import type { Configs } from '../configs/configs.ts';
import { callerOf, isAdmin } from '../contract/caller.ts';
import { readPage } from '../contract/page.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { sameImage } from '../engines/image-reference.ts';
import { fail } from '../errors.ts';
import {
  answerSearch,
  readSearchPage,
  SearchReply,
  searchFields,
  termsDescription,
} from '../filters/search-reply.ts';
import { readWanted } from '../filters/terms.ts';
import type { Store } from '../store/store.ts';
import {
  checkCredentials,
  credentialsAreNew,
  isOwner,
  refuseOthersCredentials,
} from './credential-rules.ts';
import { idleLimitMs, idleSince } from './idle-time.ts';
import { cursorAfter, readCursor } from './list-cursor.ts';
import type { Reactor } from './reactor.ts';
import { RegisteredReactor } from './reactor-fields.ts';
import { checkLink } from './reactor-links.ts';
import { ReactorRecord, reactorRecord } from './reactor-record.ts';
import { readSettings } from './reactor-rules.ts';
import { reactorFields, searchReactors } from './reactor-search.ts';
import type { ReactorStates } from './reactor-states.ts';
import type { Reactors } from './reactors.ts';
import type { Removal } from './removal.ts';

export interface ReactorRoutesParts {
  readonly store: Store;
  readonly reactors: Reactors;
  readonly states: Pick<ReactorStates, 'textOf'>;
  readonly removal: Pick<Removal, 'remove'>;
  readonly configs: Pick<Configs, 'credentialsOf'>;
  readonly config: Config;
  readonly baseUrl: () => string;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });

const ListQuery = Type.Object({
  ...searchFields,
  all: Type.Optional(
    Type.Boolean({
      allows: 'true or false',
      description: 'For admins: true lists the reactors of all users.',
    }),
  ),
});

type ListQuery = Static<typeof ListQuery>;

/** How long a DELETE waits, beside the grace that containers have. */
const removalMs = 15_000;

/** The reactors area: a user's own reactors. */
export function reactorRoutes(parts: ReactorRoutesParts): FastifyPluginAsyncTypebox {
  const { store, reactors, states, removal, configs, config, baseUrl } = parts;
  const show = (reactor: Reactor) => reactorRecord(reactor, config, baseUrl());
  const showWithState = async (reactor: Reactor) => {
    const state: unknown = reactor.stateless
      ? undefined
      : JSON.parse(await states.textOf(reactor.id));
    return { ...show(reactor), ...(state !== undefined && { state }), ...(await idle(reactor)) };
  };
  const limitMs = idleLimitMs(config);
  const idle = async (reactor: Reactor) => {
    if (!reactor.removeWhenIdle || limitMs === undefined) return {};
    const since = await idleSince(store, reactor);
    return {
      idleRemovalTime: since === undefined ? null : new Date(since + limitMs).toISOString(),
    };
  };
  const list = async (query: ListQuery, reply: FastifyReply, callerId: string) => {
    const { all = false, cursor } = query;
    const { limit, offset } = readPage(query);
    const after = readCursor(cursor);
    if (after !== undefined && query.offset !== undefined)
      throw fail('invalid_field', { field: 'offset', problem: 'cannot go with a cursor' });
    const userId = all ? undefined : callerId;
    const found = await reactors.list({ userId, limit: limit + 1, offset, after });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last !== undefined) {
      const more = new URLSearchParams({
        limit: String(limit),
        cursor: cursorAfter(last),
        ...(all && { all: 'true' }),
      });
      reply.header('link', `<${baseUrl()}/actors/v2?${more}>; rel="next"`);
    }
    return page.map(show);
  };

  return underBothSpellings(async (app) => {
    app.post(
      '',
      {
        config: { access, answer: 'enveloped', message: 'Actor created successfully.' },
        preValidation: leaveOutUnsaid,
        schema: {
          tags: ['Reactors'],
          summary: 'Register a reactor',
          description:
            'Its image is pulled in the background: the status goes from SUBMITTED to READY, or to ERROR with the ' +
            'reason in statusMessage. Messages are accepted at once, and wait. When the pull fails and the engine has ' +
            'the image already, that copy is used.',
          body: RegisteredReactor,
          response: { 201: ReactorRecord },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { body } = request;
        const settings = readSettings(body, config, isAdmin(caller));
        await checkLink(reactors, caller, settings.link);
        const owner = { id: caller.userId, username: caller.username };
        await checkCredentials(configs, owner.id, settings);
        const name = body.name === undefined || body.name === '' ? null : body.name;
        const reactor = await reactors.register(owner, name, settings, body.force ?? false);
        request.log.info({ reactor: reactor.id, user: caller.userId }, 'reactor registered');
        const record = await showWithState(reactor);
        return reply.code(201).header('location', record._links.self).send(record);
      },
    );

    app.get(
      '',
      {
        config: { access, answer: 'enveloped', message: 'Actors retrieved successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'List your reactors, and those shared with you',
          description:
            'Newest first: your own, those that somebody has given you a permission on, and those shared with everyone ' +
            '(WORLD). The header Link has the address of the next page (rel="next"), which goes on from a cursor ' +
            'and costs the same on every page; offset counts from the start.\n\nWith search terms the answer is that of ' +
            `\`/actors/v2/search/actors\`. ${termsDescription}`,
          querystring: ListQuery,
          response: {
            200: Type.Union([
              Type.Array(ReactorRecord),
              SearchReply('FoundReactors', ReactorRecord),
            ]),
          },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { all = false } = request.query;
        if (all && !isAdmin(caller))
          throw fail('not_allowed', {
            problem: 'all: only admins may list the reactors of all users.',
          });
        const wanted = readWanted(request.query, reactorFields);
        if (wanted.isSearch) {
          const place = readSearchPage(request.query);
          const ownerId = all ? undefined : caller.userId;
          const found = await searchReactors(store, ownerId, wanted, place);
          const question = { self: `${baseUrl()}/actors/v2`, query: request.query, reply };
          return answerSearch(question, place, found, show);
        }
        return list(request.query, reply, caller.userId);
      },
    );

    app.get(
      '/:reactorId',
      {
        config: { access, answer: 'enveloped', message: 'Actor retrieved successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Show a reactor',
          params: NamedReactor,
          response: { 200: ReactorRecord },
        },
      },
      async (request) =>
        showWithState(await reactors.show(callerOf(request), request.params.reactorId, 'READ')),
    );

    app.put(
      '/:reactorId',
      {
        config: { access, answer: 'enveloped', message: 'Actor updated successfully.' },
        preValidation: leaveOutUnsaid,
        schema: {
          tags: ['Reactors'],
          summary: 'Replace what a reactor is',
          description:
            'Takes the complete description: what is not sent returns to its default; name, owner and state stay. The image is ' +
            'pulled when its name or tag differs, when other credentials are named, or with force; then the revision is raised, and the status is ' +
            'SUBMITTED again. What changes applies from the next execution on.',
          params: NamedReactor,
          body: RegisteredReactor,
          response: { 200: ReactorRecord },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const reactor = await reactors.show(caller, request.params.reactorId, 'UPDATE');
        const settings = readSettings(request.body, config, isAdmin(caller));
        await checkLink(reactors, caller, settings.link, reactor.id);
        if (isOwner(caller, reactor)) await checkCredentials(configs, reactor.ownerId, settings);
        else refuseOthersCredentials(reactor, settings);
        const force = request.body.force ?? false;
        const changed = await reactors.replace(reactor, settings, (current) => ({
          pull:
            force ||
            !sameImage(current.image, settings.image) ||
            credentialsAreNew(current, settings),
          askRegistry: force,
        }));
        request.log.info({ reactor: reactor.id, user: caller.userId }, 'reactor changed');
        return showWithState(changed);
      },
    );

    app.delete(
      '/:reactorId',
      {
        config: { access, answer: 'enveloped', message: 'Actor deleted successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Delete a reactor',
          description:
            'Stops what runs and drops what waits; then the reactor is gone. When that takes long, the answer is 202, ' +
            'and the reactor is SHUTTING_DOWN until it is done.',
          params: NamedReactor,
          response: { 200: Type.Null(), 202: Type.Null() },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const reactor = await reactors.show(caller, request.params.reactorId, 'UPDATE');
        const inTime = await within(
          config.stop_grace * 1000 + removalMs,
          removal.remove(reactor, caller.username),
        );
        if (!inTime)
          reply.code(202).sentence =
            'Actor deleted successfully, though what it runs is still being stopped.';
        return null;
      },
    );
  });
}

/** Null, and in a form nothing, stand for a field that is not said; and no body for one without fields. */
async function leaveOutUnsaid(request: FastifyRequest): Promise<void> {
  request.body ??= {};
  const { body } = request;
  if (typeof body !== 'object' || body === null) return;
  const isForm = Object.getPrototypeOf(body) === null;
  for (const [name, value] of Object.entries(body)) {
    if (value === null || (isForm && value === '')) Reflect.deleteProperty(body, name);
  }
}

/** Whether the work was done in this time; it goes on in any case. */
async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const done = work.then(() => true);
  const timer = new AbortController();
  const late = pause(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([done, late]);
  } finally {
    timer.abort();
    // Should it fail later, it is tried again, and the log tells of it.
    done.catch(() => {});
  }
}
