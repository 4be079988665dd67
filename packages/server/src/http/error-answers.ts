import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { failure } from '../contract/envelope.ts';
import { toJson } from '../contract/wrapping.ts';
import { fail, ServiceError } from '../errors.ts';
import { StoreUnavailable } from '../store/store-errors.ts';

import { acceptedTypes } from './bodies.ts';
import { faultOf } from './fault.ts';

/** What people meet in a browser says its errors to people. */
export interface ErrorPages {
  isPage(path: string): boolean;
  send(reply: FastifyReply, error: ServiceError): FastifyReply;
}

/** Every error leaves in the envelope, or as a page where pages are: those of the registry as they are, the framework's translated, the rest as 500. */
export function answerErrors(app: FastifyInstance, pages: ErrorPages): void {
  app.setErrorHandler((error: FastifyError | ServiceError, request, reply) => {
    const known = toServiceError(error, request);
    if (known.status >= 500) request.log.error({ err: error }, known.code);
    const path = request.url.split('?', 1)[0] ?? '';
    return pages.isPage(path) ? pages.send(reply, known) : sendError(request, reply, known);
  });
}

export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: ServiceError,
): FastifyReply {
  const fault = faultOf(error);
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .serializer((body: unknown) => toJson(request, body))
    .send({ ...failure(error.message, null), ...(fault !== undefined && { fault }) });
}

/** What the caller is told about whatever was thrown. */
export function toServiceError(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreUnavailable) {
    return fail('store_unavailable').withHeaders({ 'retry-after': '1' });
  }
  return fromFramework(error, request) ?? fail('internal', { requestId: request.id });
}

/** Fastify's own complaints about requests, by code. Anything else it may say with a 4xx status is the caller's too. */
function fromFramework(error: unknown, request: FastifyRequest): ServiceError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return;
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return fail('malformed_json', { problem: error.message });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return fail('empty_body');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return fail('body_too_large', { limit: request.routeOptions.bodyLimit ?? 0 });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return fail('unsupported_content_type', {
        contentType: request.headers['content-type'] ?? '(none)',
        accepted: acceptedTypes.join(', '),
      });
    case 'FST_ERR_BAD_URL':
      return fail('malformed_request', { problem: 'the path has broken percent-encoding' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return fail('address_too_long');
  }
  const status = 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500
    ? fail('malformed_request', { problem: error.message })
    : undefined;
}

/** An address that cannot be read leads to no route, and so past everything that routes have. */
export function answerBrokenAddress(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
  sendError(request, reply, toServiceError(error, request));
}

/** Bytes that are not HTTP, or too slow, or too long: there is no request object yet, so the reply is written by hand. */
export function answerBrokenConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = fromParser(error.code);
  const body = JSON.stringify(failure(known.message, null));
  socket.end(
    `HTTP/1.1 ${known.status} ${STATUS_CODES[known.status]}\r\n` +
      'Connection: close\r\nContent-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function fromParser(code: string | undefined): ServiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return fail('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return fail('request_timeout');
    default:
      return fail('malformed_request', { problem: 'it is not valid HTTP' });
  }
}
