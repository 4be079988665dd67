import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail, type ServiceError } from '../errors.ts';
import { success } from './envelope.ts';

/** The result in the envelope or alone, as the route and the caller want it. */
export function wrap(request: FastifyRequest, reply: FastifyReply, result: unknown): unknown {
  const { answer, message } = request.route;
  const naked = readFlag(request, 'naked') ?? answer === 'bare';
  return naked ? result : success(result, reply.sentence || message);
}

export function toJson(request: FastifyRequest, value: unknown): string {
  return JSON.stringify(value, null, readFlag(request, 'pretty') === true ? 2 : undefined);
}

type FlagName = 'naked' | 'pretty';

export function flagProblem(request: FastifyRequest, name: FlagName): ServiceError | undefined {
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
