import type { FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';
import { success } from './envelope.ts';

/** The result in the envelope or alone, as the route and the caller want it. `said`: instead of the route's sentence. */
export function wrap(
  request: FastifyRequest,
  result: unknown,
  said: string | null = null,
): unknown {
  const { answer, message } = request.routeOptions.config;
  const naked = readFlag(request, 'naked') ?? answer === 'bare';
  return naked ? result : success(result, said ?? message);
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
export function readFlag(request: FastifyRequest, name: 'naked' | 'pretty'): boolean | undefined {
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
