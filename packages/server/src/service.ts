import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import { openDataFolder } from './data-folder.ts';
import type { Served } from './executions/api-address.ts';
import { greeting, hasHello, problemOf } from './greeting.ts';
import { type App, buildApp } from './http/app.ts';
import { answerBrokenConnection } from './http/error-answers.ts';
import { createLog } from './http/service-log.ts';
import { makeFirstAdmin } from './identity/first-admin.ts';
import { assembleParts, startWork } from './parts.ts';

export interface Service {
  readonly address: string;
  /** Finishes the requests under way, leaves containers alone, and closes the store. */
  stop(): Promise<void>;
}

/** Puts the service together and starts it: data folder → parts → first admin → HTTP → work. */
export async function startService(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Service> {
  const log = createLog(config);
  await using started = new AsyncDisposableStack();
  const folder = openDataFolder(config.data);
  started.defer(() => folder.release());
  const parts = await assembleParts({ config, environment, dataFolder: folder.path, log });
  started.defer(() => parts.stop());
  // After the parts: a start that fails over a setting must not use up the password that is shown once.
  const admin = await makeFirstAdmin(parts.store, parts.identity.users, {
    username: config.admin_username,
    password: config.admin_password,
  });
  let address = config.base_url ?? '';
  const app = await buildApp({ ...parts, config, log, baseUrl: () => address });
  started.defer(() => app.close());
  const { host, port } = config;
  await app.listen({ host, port, listenTextResolver: () => 'listening' });
  address ||= addressOf(app.server.address(), host);
  startWork(parts, servedBy(app));
  folder.announce(address);
  const passwordWasGiven = config.admin_password !== undefined;
  const engineProblem = await problemOf(parts.engine);
  process.stdout.write(
    greeting({
      address,
      admin,
      passwordWasGiven,
      engineProblem,
      hasHello: engineProblem === undefined && (await hasHello(parts.engine)),
    }),
  );
  const stack = started.move();
  return { address, stop: () => stack.disposeAsync() };
}

/** How a second server, for containers, serves the same requests in the same way. */
function servedBy(app: App): Served {
  const { requestTimeout, headersTimeout, keepAliveTimeout } = app.server;
  return {
    listener: app.routing,
    port: portOf(app.server.address()),
    prepare: (server) => {
      Object.assign(server, { requestTimeout, headersTimeout, keepAliveTimeout });
      server.on('clientError', answerBrokenConnection);
    },
  };
}

function portOf(listening: AddressInfo | string | null): number {
  return typeof listening === 'object' && listening !== null ? listening.port : 0;
}

/** A wildcard address is not one that a person can open. */
export function addressOf(listening: AddressInfo | string | null, host: string): string {
  const port = portOf(listening);
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
