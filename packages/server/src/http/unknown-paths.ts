import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';
import { type ErrorPages, sendError } from './error-answers.ts';
import type { FirstStep } from './first-steps.ts';
import { sendOAuthError } from './oauth-answers.ts';
import type { PathTable } from './path-table.ts';

/** 404 for a path that no operation has, 405 with Allow for one that has other verbs; before a body is read. */
export function answerUnknownPaths(
  app: FastifyInstance,
  paths: PathTable,
  pages: ErrorPages,
): FirstStep {
  const refuse = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '';
    const verbs = paths.verbsOf(path);
    if (verbs.length === 0) return sendError(request, reply, fail('unknown_path', { path }));
    const allowed = verbs.join(', ');
    const wrongVerb = fail('wrong_verb', { method: request.method, path, allowed }).withHeaders({
      allow: allowed,
    });
    if (pages.isPage(path)) return pages.send(reply, wrongVerb);
    return paths.isOAuth(path)
      ? sendOAuthError(request, reply, wrongVerb)
      : sendError(request, reply, wrongVerb);
  };
  app.setNotFoundHandler(refuse);
  return (request, reply) => {
    if (request.is404) refuse(request, reply);
    return request.is404;
  };
}
