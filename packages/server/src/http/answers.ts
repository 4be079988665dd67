import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readFlag, toJson, wrap } from '../contract/wrapping.ts';

/** Wraps what handlers return: envelope or bare result, compact or indented, as the route and the caller want it. */
export function wrapAnswers(app: FastifyInstance): void {
  app.decorateReply('answerMessage', null);

  // Read early: a wrong `naked` is refused before the operation does anything.
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.answer === undefined) return;
    readFlag(request, 'naked');
    readFlag(request, 'pretty');
  });

  app.addHook('preSerialization', async (request, reply, payload) => {
    if (!isWrapped(request) || reply.statusCode >= 400) return payload;
    reply.serializer((wrapped: unknown) => toJson(request, wrapped));
    return wrap(request, payload, reply.answerMessage);
  });

  // A null result never reaches preSerialization, and would be sent as an empty body.
  app.addHook('onSend', async (request, reply, payload) => {
    const nothing = payload === null || payload === undefined || payload === '';
    if (!nothing || !isWrapped(request) || reply.statusCode >= 400) return payload;
    reply.type('application/json; charset=utf-8');
    return toJson(request, wrap(request, null, reply.answerMessage));
  });
}

function isWrapped(request: FastifyRequest): boolean {
  const shape = request.routeOptions.config.answer ?? 'raw';
  return shape !== 'raw' && !request.is404;
}
