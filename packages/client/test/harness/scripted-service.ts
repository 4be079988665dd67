import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly at: number;
}

export type Answering = (reply: ServerResponse, asked: Asked) => void;

export interface ScriptedService {
  readonly url: string;
  /** What was asked, in order. */
  readonly asked: readonly Asked[];
  /** The answers to come, one after the other; the last is given again and again. */
  script(...answers: readonly Answering[]): void;
  close(): Promise<void>;
}

/** A server that answers as it is told, to see what a client makes of it. */
export async function openScriptedService(): Promise<ScriptedService> {
  let answers: readonly Answering[] = [];
  let asked: Asked[] = [];
  const server = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body, at: Date.now() };
    asked.push(one);
    (answers[asked.length - 1] ?? answers.at(-1))?.(reply, one);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    get asked() {
      return asked;
    },
    script: (...next) => {
      answers = next;
      asked = [];
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Headers_ = Readonly<Record<string, string>>;

export const ok =
  (result: unknown, headers: Headers_ = {}, status = 200): Answering =>
  (reply) => {
    reply.writeHead(status, { 'content-type': 'application/json', ...headers });
    reply.end(JSON.stringify({ status: 'success', message: '', result, version: '1' }));
  };

export const refuse =
  (status: number, headers: Headers_ = {}, message = `refused with ${status}`): Answering =>
  (reply) => {
    reply.writeHead(status, { 'content-type': 'application/json', ...headers });
    reply.end(JSON.stringify({ status: 'error', message, result: null, version: '1' }));
  };

export const json =
  (body: unknown, status = 200): Answering =>
  (reply) => {
    reply.writeHead(status, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(body));
  };

/** The connection breaks without an answer. */
export const hangUp: Answering = (reply) => void reply.destroy();

/** No answer, ever. */
export const silence: Answering = () => {};

/** Sends this much of a stream of events and then hangs up, or ends it. */
export const events =
  (text: string, end: 'break' | 'end'): Answering =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.write(text, () =>
      end === 'break' ? setTimeout(() => reply.destroy(), 20) : reply.end(),
    );
  };
