import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PathTable } from './path-table.ts';

/** What a page of an allowed origin may read of a reply. */
const exposedHeaders = [
  'x-request-id',
  'retry-after',
  'etag',
  'location',
  'link',
  'www-authenticate',
  'x-execution-id',
  'x-execution-status',
  'x-exit-code',
  'x-result-index',
].join(', ');

/** Browsers may call the API from the configured origins, never with cookies, and never the pages that use one. */
export async function allowCrossOrigin(
  app: FastifyInstance,
  origins: readonly string[],
  paths: PathTable,
): Promise<void> {
  const allowed: FastifyCorsOptions = {
    origin: origins.includes('*') ? '*' : [...origins],
    credentials: false,
    strictPreflight: false,
    maxAge: 600,
    exposedHeaders,
  };
  const refused: FastifyCorsOptions = { ...allowed, origin: false };
  await app.register(cors, {
    delegator: (
      request: FastifyRequest,
      done: (error: Error | null, options: FastifyCorsOptions) => void,
    ) => {
      // A request that has found its route needs no search for the verbs of its path.
      if (request.method !== 'OPTIONS' && !request.is404)
        return done(null, request.routeOptions.config.page === true ? refused : allowed);
      const path = request.url.split('?', 1)[0] ?? '';
      const methods = [...paths.verbsOf(path)];
      done(null, paths.isPage(path) || methods.length === 0 ? refused : { ...allowed, methods });
    },
  });
}
