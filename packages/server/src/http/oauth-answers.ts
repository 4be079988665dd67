import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceError } from '../errors.ts';
import { asDescription, TokenRefusal } from '../oauth/token-errors.ts';
import { toServiceError } from './error-answers.ts';

/** RFC 6749 5.1: nothing between us and the client keeps a token, nor a refusal of one. */
const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

/** Errors in the words of OAuth, and nothing cached, for the endpoints that are registered inside. */
export function answerInOAuth(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(uncached);
    done();
  });
  // Forms only: other types are refused before they are read.
  app.removeContentTypeParser('application/json');
  app.setErrorHandler((error, request, reply) => sendOAuthError(request, reply, error));
}

export function sendOAuthError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (error instanceof TokenRefusal) {
    if (error.error === 'invalid_client')
      reply.header('www-authenticate', 'Basic realm="reactord", charset="UTF-8"');
    return send(reply, error.status, error.error, error.message);
  }
  const known = toServiceError(error, request);
  if (known.status >= 500) request.log.error({ err: error }, known.code);
  reply.headers(known.headers);
  return send(reply, statusOf(known), nameOf(known), textOf(known));
}

function send(reply: FastifyReply, status: number, error: string, text: string): FastifyReply {
  return reply
    .code(status)
    .headers(uncached)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error, error_description: asDescription(text) }));
}

/** RFC 6749 has 400 for every fault of the request; HTTP's own words for verb, size and haste say more. */
function statusOf({ status }: ServiceError): number {
  return [405, 413, 429].includes(status) || status >= 500 ? status : 400;
}

function nameOf({ status }: ServiceError): string {
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/** The service's own sentences may repeat what was sent; OAuth's never do. */
function textOf({ code, message }: ServiceError): string {
  if (code === 'unsupported_content_type' || code === 'empty_body')
    return 'Send the parameters as application/x-www-form-urlencoded in the body.';
  if (code === 'wrong_verb') return 'Only POST is allowed here.';
  return code === 'malformed_request' ? 'The request is malformed.' : message;
}
