import type { FastifyInstance, FastifyRequest } from 'fastify';
import { flagProblem, toJson, wrap } from '../contract/wrapping.ts';

/** Wraps what handlers return: envelope or bare result, compact or indented, as the route and the caller want it. */
export function wrapAnswers(app: FastifyInstance): void {
  app.decorateReply('sentence', '');
  // Read early: a wrong `naked` is refused before the operation does anything.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.route.answer === undefined) return done();
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
  const shape = request.route.answer ?? 'raw';
  return shape !== 'raw' && !request.is404;
}
