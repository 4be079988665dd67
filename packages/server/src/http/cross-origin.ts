import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FirstStep } from './first-steps.ts';
import type { PathTable } from './path-table.ts';

/** What a page of an allowed origin may read of a reply. */
const exposedHeaders = [
  'x-request-id',
  'retry-after',
  'etag',
  'location',
  'link',
  'www-authenticate',
  'idempotency-replayed',
  'x-execution-id',
  'x-execution-status',
  'x-exit-code',
  'x-result-index',
].join(', ');

/** How long a browser may remember what it was allowed. */
const rememberedSeconds = '600';

/**
 * Browsers may call the API from the configured origins, never with cookies, and never the pages that use one.
 * By hand: the framework's plugin puts its options together anew for each request.
 */
export function crossOrigin(origins: readonly string[], paths: PathTable): FirstStep {
  const anybody = origins.includes('*');
  const allowed = new Set(origins);

  const allow = (request: FastifyRequest, reply: FastifyReply): void => {
    const { origin } = request.headers;
    if (anybody) {
      reply.header('access-control-allow-origin', '*');
    } else {
      reply.header('vary', 'Origin');
      if (origin !== undefined && allowed.has(origin))
        reply.header('access-control-allow-origin', origin);
    }
    // For browsers alone, and they always say where they come from.
    if (origin !== undefined) reply.header('access-control-expose-headers', exposedHeaders);
  };

  return (request, reply) => {
    if (!request.is404) {
      if (request.route.page !== true) allow(request, reply);
      return false;
    }
    const path = request.url.split('?', 1)[0] ?? '';
    const verbs = paths.verbsOf(path);
    if (verbs.length === 0 || paths.isPage(path)) return false;
    allow(request, reply);
    if (request.method !== 'OPTIONS') return false;
    reply.header('access-control-allow-methods', verbs.join(', '));
    reply.header('access-control-max-age', rememberedSeconds);
    const wanted = request.headers['access-control-request-headers'];
    if (wanted !== undefined) reply.header('access-control-allow-headers', wanted);
    reply.header(
      'vary',
      anybody ? 'Access-Control-Request-Headers' : 'Origin, Access-Control-Request-Headers',
    );
    reply.code(204).header('content-length', '0').send();
    return true;
  };
}
