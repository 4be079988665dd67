import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { freePort } from './free-port.ts';

/** Stands before a registry: counts what is asked for, and can keep everybody waiting. */
export interface RegistryGate {
  readonly host: string;
  /** How many times a manifest was asked for; each pull begins with that. */
  manifests(): number;
  /** From now on nobody gets a manifest until `open`. */
  shut(): void;
  open(): void;
  close(): Promise<void>;
}

export async function startRegistryGate(registry: string): Promise<RegistryGate> {
  const host = `127.0.0.1:${await freePort()}`;
  let manifests = 0;
  let passing = Promise.resolve();
  let open = (): void => {};
  const server = createServer(async (from, back) => {
    if (from.method === 'HEAD' && from.url?.includes('/manifests/')) manifests += 1;
    if (from.url?.includes('/manifests/')) await passing;
    const [name, port] = registry.split(':');
    const { method, url: path, headers } = from;
    const onward = httpRequest({ host: name, port, method, path, headers }, (answer) => {
      back.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(back);
    });
    onward.on('error', () => back.destroy());
    from.pipe(onward);
  });
  const [name, port] = host.split(':');
  server.listen(Number(port), name);
  await once(server, 'listening');
  return {
    host,
    manifests: () => manifests,
    shut: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      passing = promise;
      open = resolve;
    },
    open: () => open(),
    close: async () => {
      open();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
