import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';
import type { PathTable } from './path-table.ts';

/** 404 for a path that no operation has, 405 with Allow for one that has other verbs; before a body is read. */
export function answerUnknownPaths(app: FastifyInstance, paths: PathTable): void {
  const refuse = (request: FastifyRequest): never => {
    const path = request.url.split('?', 1)[0] ?? '';
    const verbs = paths.verbsOf(path);
    if (verbs.length === 0) throw fail('unknown_path', { path });
    const allowed = verbs.join(', ');
    throw fail('wrong_verb', { method: request.method, path, allowed }).withHeaders({
      allow: allowed,
    });
  };
  app.addHook('onRequest', async (request) => {
    if (request.is404) refuse(request);
  });
  app.setNotFoundHandler(async (request) => refuse(request));
}
