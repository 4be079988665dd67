import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: ReturnType<typeof JSON.parse>;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** The status of the next answers, oldest first; then 204. `hang`: no answer at all. */
  readonly answers: (number | 'hang')[];
  close(): Promise<void>;
}

/** Takes webhooks, and answers as it is told to. */
export async function openReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const answers: (number | 'hang')[] = [];
  const server = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const { url: path = '', headers } = request;
    received.push({ path, headers, body, event: JSON.parse(body) });
    const answer = answers.shift() ?? 204;
    if (answer === 'hang') return;
    reply.writeHead(answer, { location: '/elsewhere' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
