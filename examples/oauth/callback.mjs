import { once } from 'node:events';
import { createServer } from 'node:http';

// In the implicit flow the answer comes behind #, which browsers keep to themselves: the page sends it on.
const page = `<!doctype html><meta charset="utf-8"><title>Back from the login</title>
<p>Done. You can close this window.</p>
<script>
  if (location.hash) location.replace(location.pathname + '?' + location.hash.slice(1));
</script>`;

/** Waits at the callback address until a browser comes back to it with an answer, and returns the address it came with. */
export async function waitForCallback(callback) {
  const { hostname, port, pathname } = new URL(callback);
  const server = createServer().listen(Number(port), hostname);
  const answer = new Promise((resolve) => {
    server.on('request', (request, reply) => {
      const address = new URL(request.url, callback);
      const found = address.pathname === pathname;
      const headers = { 'Content-Type': 'text/html; charset=utf-8', Connection: 'close' };
      reply.writeHead(found ? 200 : 404, headers).end(found ? page : '');
      if (found && address.search !== '') resolve(address);
    });
  });
  await once(server, 'listening');
  try {
    return await answer;
  } finally {
    server.close();
  }
}
