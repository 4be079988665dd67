import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PathTable } from './path-table.ts';

/** Browsers may call the API from the configured origins, never with cookies, and never the pages that use one. */
export async function allowCrossOrigin(
  app: FastifyInstance,
  origins: readonly string[],
  paths: PathTable,
): Promise<void> {
  const allowed = origins.includes('*') ? '*' : [...origins];
  await app.register(cors, {
    delegator: (
      request: FastifyRequest,
      done: (error: Error | null, options: FastifyCorsOptions) => void,
    ) => {
      const path = request.url.split('?', 1)[0] ?? '';
      const verbs = paths.verbsOf(path);
      done(null, {
        origin: paths.isPage(path) || verbs.length === 0 ? false : allowed,
        methods: [...verbs],
        credentials: false,
        strictPreflight: false,
        maxAge: 600,
        exposedHeaders: [
          'x-request-id',
          'retry-after',
          'etag',
          'location',
          'link',
          'www-authenticate',
        ],
      });
    },
  });
}
