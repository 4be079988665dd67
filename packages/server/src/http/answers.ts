import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { success } from '../contract/envelope.ts';
import { fail, type ServiceError } from '../errors.ts';

/** Wraps what handlers return: envelope or bare result, compact or indented, as the route and the caller want it. */
export function wrapAnswers(app: FastifyInstance): void {
  app.decorateReply('sentence', '');
  // Read early: a wrong `naked` is refused before the operation does anything.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.answer === undefined) return done();
    const problem = flagProblem(request, 'naked') ?? flagProblem(request, 'pretty');
    return problem === undefined ? done() : done(problem);
  });

  app.addHook('preSerialization', (request, reply, payload, done) => {
    if (!isWrapped(request) || reply.statusCode >= 400) return done(null, payload);
    reply.serializer((wrapped: unknown) => toJson(request, wrapped));
    done(null, wrap(request, reply, payload));
  });

  // A null result never reaches preSerialization, and would be sent as an empty body.
  app.addHook('onSend', (request, reply, payload, done) => {
    const nothing = payload === null || payload === undefined || payload === '';
    if (!nothing || !isWrapped(request) || reply.statusCode >= 400) return done(null, payload);
    reply.type('application/json; charset=utf-8');
    done(null, toJson(request, wrap(request, reply, null)));
  });
}

function isWrapped(request: FastifyRequest): boolean {
  const shape = request.routeOptions.config.answer ?? 'raw';
  return shape !== 'raw' && !request.is404;
}

function wrap(request: FastifyRequest, reply: FastifyReply, result: unknown): unknown {
  const { answer, message } = request.routeOptions.config;
  const naked = readFlag(request, 'naked') ?? answer === 'bare';
  return naked ? result : success(result, reply.sentence || message);
}

export function toJson(request: FastifyRequest, value: unknown): string {
  return JSON.stringify(value, null, prettyWanted(request) ? 2 : undefined);
}

function prettyWanted(request: FastifyRequest): boolean {
  return readFlag(request, 'pretty') ?? false;
}

type FlagName = 'naked' | 'pretty';

function flagProblem(request: FastifyRequest, name: FlagName): ServiceError | undefined {
  const given = flagText(request, name);
  if (given === undefined || flagValues.has(given)) return undefined;
  return fail('invalid_field', { field: name, problem: 'takes true or false' });
}

/** `?naked` alone means true, as `?naked=true` does. */
const flagValues: ReadonlyMap<string, boolean> = new Map([
  ['', true],
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Undefined where the flag was not given, or is the one that is being complained about. */
function readFlag(request: FastifyRequest, name: FlagName): boolean | undefined {
  const given = flagText(request, name);
  return given === undefined ? undefined : flagValues.get(given);
}

function flagText(request: FastifyRequest, name: FlagName): string | undefined {
  const query = request.query;
  if (typeof query !== 'object' || query === null || !(name in query)) return undefined;
  return String(Reflect.get(query, name)).toLowerCase();
}
