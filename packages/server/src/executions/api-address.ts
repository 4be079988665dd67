import { createServer, type RequestListener, type Server } from 'node:http';
import type { Engine } from '../engines/engine.ts';

export interface ApiAddressParts {
  readonly engine: Pick<Engine, 'gatewayAddress'>;
  /** The address that the operator has set; containers use it then. */
  readonly baseUrl: string | undefined;
  /** The address that the service listens on. */
  readonly host: string;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/** What serves the requests that arrive at the second address. */
export interface Served {
  readonly listener: RequestListener;
  readonly port: number;
  /** Prepares a server as the first one is: its limits, and how it answers what is not HTTP. */
  readonly prepare: (server: Server) => void;
}

const retryMs = 5_000;
const everywhere = new Set(['0.0.0.0', '::', '']);

/**
 * The address of the service for containers. The service's own loopback address is the container's own inside the
 * container, so they are told the name that the engine gives to this machine, and the service listens there too.
 */
export class ApiAddress {
  readonly #parts: ApiAddressParts;
  #served: Served | undefined;
  #opening: Promise<void> | undefined;
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #complained = false;

  constructor(parts: ApiAddressParts) {
    this.#parts = parts;
  }

  /** What is to be served, once a container is going to need it. */
  serve(served: Served): void {
    this.#served = served;
  }

  /** The address for a container; the first one waits until the service listens there. */
  async url(): Promise<string> {
    await this.open();
    return this.#parts.baseUrl ?? `http://host.docker.internal:${this.#served?.port}`;
  }

  /** Begins to listen where the engine says; an engine that does not answer is asked again later. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    // Requests under way had their time when the first server closed.
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
    await closed;
  }

  async #open(): Promise<void> {
    const { baseUrl, host } = this.#parts;
    if (baseUrl !== undefined || everywhere.has(host) || this.#served === undefined) return;
    await this.#try(this.#served);
  }

  async #try(served: Served): Promise<void> {
    const { engine, host, log } = this.#parts;
    try {
      const gateway = await engine.gatewayAddress();
      if (gateway === undefined || gateway === host || this.#stopped) return;
      this.#server = await listen(served, gateway);
      log.info({ address: gateway, port: served.port }, 'listening for containers');
    } catch (error) {
      if (!this.#complained)
        log.warn({ err: error }, 'containers cannot reach the service yet; trying again');
      this.#complained = true;
      if (this.#stopped) return;
      this.#timer = setTimeout(() => void this.#try(served), retryMs);
      this.#timer.unref();
    }
  }
}

function listen({ listener, port, prepare }: Served, host: string): Promise<Server> {
  const server = createServer(listener);
  prepare(server);
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', reject);
  server.listen({ host, port }, () => {
    server.off('error', reject);
    resolve(server);
  });
  return promise;
}
