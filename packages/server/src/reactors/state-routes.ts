import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import { etagOf, readIfMatch } from './etags.ts';
import type { Reactor } from './reactor.ts';
import type { ReactorStates } from './reactor-states.ts';
import type { Reactors } from './reactors.ts';

export interface StateRoutesParts {
  readonly reactors: Pick<Reactors, 'forCaller' | 'byName'>;
  /** Whether an execution of the reactor sent the request, with its own token, while it runs. */
  readonly isFromInside: (request: FastifyRequest, reactorId: string) => Promise<boolean>;
  readonly states: ReactorStates;
  readonly config: Pick<Config, 'state_limit'>;
  readonly baseUrl: () => string;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });

const StateRecord = Type.Object(
  {
    state: Type.Unknown({ description: 'As it was posted; `{}` before that.' }),
    _links: Type.Object({ self: Type.String(), actor: Type.String(), owner: Type.String() }),
  },
  {
    title: 'State',
    examples: [
      {
        state: { seen: 42 },
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/state',
          actor: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d',
          owner: 'https://reactors.example.org/profiles/v2/ada',
        },
      },
    ],
  },
);

/** What a stateful reactor remembers from one execution to the next. */
export function stateRoutes(parts: StateRoutesParts): FastifyPluginAsyncTypebox {
  const { states, config, baseUrl } = parts;
  const stateful = async (
    request: FastifyRequest<{ Params: { reactorId: string } }>,
    needs: 'READ' | 'UPDATE',
  ): Promise<Reactor> => {
    const caller = callerOf(request);
    const { reactorId } = request.params;
    // The state is its container's to keep, also where whoever posted the message may no more than post.
    const inside =
      caller.by.kind === 'token' && caller.by.flow === 'execution'
        ? await parts.reactors.byName(reactorId)
        : undefined;
    const reactor =
      inside !== undefined && (await parts.isFromInside(request, inside.id))
        ? inside
        : await parts.reactors.forCaller(caller, reactorId, needs);
    if (!reactor.stateless) return reactor;
    throw fail('invalid_field', {
      field: 'stateless',
      problem: `the reactor ${reactor.id} is stateless and has no state; change it with a PUT that says stateless=false`,
    });
  };
  const recordOf = ({ id, ownerUsername }: Reactor, text: string) => {
    const actor = `${baseUrl()}/actors/v2/${id}`;
    const state: unknown = JSON.parse(text);
    return {
      state,
      _links: {
        self: `${actor}/state`,
        actor,
        owner: `${baseUrl()}/profiles/v2/${ownerUsername}`,
      },
    };
  };

  return underBothSpellings(async (app) => {
    takeText(app);

    app.get(
      '/:reactorId/state',
      {
        config: { access, answer: 'enveloped', message: 'Actor state retrieved successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'The state of a reactor',
          description:
            'The header ETag names this state, for an update that must not overwrite a later one. Needs READ. 400 for a ' +
            'stateless reactor.',
          params: NamedReactor,
          response: { 200: StateRecord },
        },
      },
      async (request, reply) => {
        const reactor = await stateful(request, 'READ');
        const { text, version } = await states.read(reactor.id);
        reply.header('etag', etagOf(version));
        return recordOf(reactor, text);
      },
    );

    app.post(
      '/:reactorId/state',
      {
        // As it may be sent, with more escapes and spaces than it is kept with.
        bodyLimit: 8 * config.state_limit,
        config: { access, answer: 'enveloped', message: 'State updated successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Replace the state of a reactor',
          description,
          consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
          params: NamedReactor,
          headers: Type.Object({
            'if-match': Type.Optional(
              Type.String({
                description: 'The ETag of the state that is to be replaced, several, or `*`.',
              }),
            ),
          }),
          body: Type.Unknown({
            description: 'The new state: any JSON but null. Form fields are an object of texts.',
            examples: [{ seen: 43 }],
          }),
          response: { 200: StateRecord },
        },
      },
      async (request, reply) => {
        const reactor = await stateful(request, 'UPDATE');
        const text = readState(request.body, config.state_limit);
        const wanted = readIfMatch(request.headers['if-match']);
        const version = await replaceIf(states, reactor, text, wanted);
        reply.header('etag', etagOf(version));
        return recordOf(reactor, text);
      },
    );
  });
}

/** Text that is not JSON is a state too. */
function takeText(app: FastifyInstance): void {
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  );
}

function readState(given: unknown, limit: number): string {
  if (given === undefined || given === null || given === '')
    throw fail('invalid_field', {
      field: 'The body',
      problem: 'is empty: send the new state, such as a JSON object',
    });
  const text = written(given);
  if (Buffer.byteLength(text) > limit) throw fail('body_too_large', { limit });
  return text;
}

/** What can be read but is nested too deeply to be written again is refused. */
function written(state: unknown): string {
  try {
    return JSON.stringify(state);
  } catch {
    throw fail('malformed_json', { problem: 'it is nested too deeply' });
  }
}

async function replaceIf(
  states: ReactorStates,
  { id }: Reactor,
  text: string,
  wanted: ReadonlySet<string> | undefined,
): Promise<number> {
  let from: number | undefined;
  if (wanted !== undefined) {
    const { version } = await states.read(id);
    if (!wanted.has(etagOf(version))) throw changed(id);
    from = version;
  }
  const version = await states.replace(id, text, from);
  if (version === undefined) throw changed(id);
  return version;
}

const changed = (id: string) =>
  fail('conflict', {
    problem: `The state of the reactor ${id} has changed and is not the one that If-Match names. Read it again, and send the change with its new ETag.`,
  });

const description = [
  'Replaces the whole state. Containers that start from then on get it in `_svc_actor_state`, as JSON. Needs UPDATE,',
  'except from inside: a running execution of the reactor uses its own token, whoever posted its message. 400 for a stateless reactor, 413 above the limit (a variable takes 128 KiB).',
  '',
  'With the header If-Match, the state is replaced only while its ETag is the one named; otherwise nothing changes, and',
  'the answer is 409. So two that change it at the same time do not overwrite each other: read, change, send with If-Match,',
  'and begin anew after a 409.',
].join('\n');
