import { connect, type Socket } from 'node:net';

/** What the load process is asked to do: one run against one address. */
export interface PostLoad {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostResult {
  /** Replies with 201, a second. */
  readonly rate: number;
  readonly failures: number;
}

// In a process of its own, and on bare sockets: on two cores a client that costs as much as the server would be
// measured instead of it.
process.on('message', async (load: PostLoad) => {
  const ends = performance.now() + load.seconds * 1000;
  const began = performance.now();
  const counts = await Promise.all(
    Array.from({ length: load.connections }, () => sendUntil(load, ends)),
  );
  const seconds = (performance.now() - began) / 1000;
  const sum = (name: 'accepted' | 'failures') =>
    counts.reduce((total, count) => total + count[name], 0);
  const answer: PostResult = { rate: sum('accepted') / seconds, failures: sum('failures') };
  process.send?.(answer);
});

/** One message after the other on one connection. */
function sendUntil(load: PostLoad, ends: number): Promise<{ accepted: number; failures: number }> {
  const request = requestOf(load);
  const { hostname, port } = new URL(load.url);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const counts = { accepted: 0, failures: 0 };
    let reply = '';
    socket.on('error', reject);
    socket.on('connect', () => socket.write(request));
    socket.on('data', (bytes: Buffer) => {
      reply += bytes.toString('latin1');
      if (!isWhole(reply)) return;
      if (reply.startsWith('HTTP/1.1 201 ')) counts.accepted += 1;
      else counts.failures += 1;
      reply = '';
      if (performance.now() < ends) {
        socket.write(request);
        return;
      }
      socket.end();
      resolve(counts);
    });
  });
}

function requestOf({ url, headers, body }: PostLoad): string {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({ host, ...headers, 'content-length': String(body.length) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST ${pathname} HTTP/1.1\r\n${head}\r\n${body}`;
}

function isWhole(reply: string): boolean {
  const end = reply.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(reply)?.[1]);
  return reply.length >= end + 4 + length;
}
