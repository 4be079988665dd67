import type { FastifyReply } from 'fastify';

/** A page or a redirect, ready to be sent. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function sendPage(reply: FastifyReply, answer: PageAnswer): FastifyReply {
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .type('text/html; charset=utf-8')
    .send(answer.body);
}
