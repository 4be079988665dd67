import type { FastifyReply } from 'fastify';

/** A page or a redirect, ready to be sent. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `secure`: people reach the service over TLS, and are to do so from now on. */
export function sendPage(reply: FastifyReply, answer: PageAnswer, secure: boolean): FastifyReply {
  if (secure) reply.header('strict-transport-security', 'max-age=31536000');
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .type('text/html; charset=utf-8')
    .send(answer.body);
}
