import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { success } from '../contract/envelope.ts';
import { fail } from '../errors.ts';

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
    return wrap(request, reply, payload);
  });

  // A null result never reaches preSerialization, and would be sent as an empty body.
  app.addHook('onSend', async (request, reply, payload) => {
    const nothing = payload === null || payload === undefined || payload === '';
    if (!nothing || !isWrapped(request) || reply.statusCode >= 400) return payload;
    reply.type('application/json; charset=utf-8');
    return toJson(request, wrap(request, reply, null));
  });
}

function isWrapped(request: FastifyRequest): boolean {
  const shape = request.routeOptions.config.answer ?? 'raw';
  return shape !== 'raw' && !request.is404;
}

function wrap(request: FastifyRequest, reply: FastifyReply, result: unknown): unknown {
  const { answer, message } = request.routeOptions.config;
  const naked = readFlag(request, 'naked') ?? answer === 'bare';
  return naked ? result : success(result, reply.answerMessage ?? message);
}

export function toJson(request: FastifyRequest, value: unknown): string {
  return JSON.stringify(value, null, prettyWanted(request) ? 2 : undefined);
}

function prettyWanted(request: FastifyRequest): boolean {
  try {
    return readFlag(request, 'pretty') ?? false;
  } catch {
    // Only while the complaint about `pretty` itself is being written.
    return false;
  }
}

/** `?naked` alone means true, as `?naked=true` does. */
function readFlag(request: FastifyRequest, name: 'naked' | 'pretty'): boolean | undefined {
  const query = request.query;
  if (typeof query !== 'object' || query === null || !(name in query)) return undefined;
  const given = Object.entries(query).find(([key]) => key === name)?.[1];
  switch (String(given).toLowerCase()) {
    case '':
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      throw fail('invalid_field', { field: name, problem: 'takes true or false' });
  }
}
