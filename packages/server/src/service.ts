import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { DockerEngine } from './engines/docker/docker-engine.ts';
import type { Engine } from './engines/engine.ts';
import type { Served } from './executions/api-address.ts';
import { assembleExecutions, type ExecutionsArea } from './executions/executions-area.ts';
import { instanceOf, ownerOf } from './executions/instance.ts';
import { LogStore } from './executions/log-store.ts';
import { greeting } from './greeting.ts';
import { type App, buildApp } from './http/app.ts';
import { answerBrokenConnection } from './http/error-answers.ts';
import { createMetrics } from './http/metrics.ts';
import { createLog } from './http/request-log.ts';
import { makeFirstAdmin } from './identity/first-admin.ts';
import { assembleIdentity, type Identity } from './identity/identity.ts';
import { assembleOAuth, type OAuth } from './oauth/oauth.ts';
import { assembleReactors, type ReactorsArea } from './reactors/reactors-area.ts';
import { openLogDatabase, openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export interface Service {
  readonly address: string;
  /** Finishes the requests under way, leaves containers alone, and closes the store. */
  stop(): Promise<void>;
}

/** Puts the service together and starts it: data folder → store → first admin → engine → HTTP. */
export async function startService(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Service> {
  const log = createLog(config);
  const metrics = createMetrics();
  const folder = openDataFolder(config.data);
  let store: Store | undefined;
  let identity: Identity | undefined;
  let oauth: OAuth | undefined;
  let reactors: ReactorsArea | undefined;
  let executions: ExecutionsArea | undefined;
  let engine: Engine | undefined;
  try {
    const place = { database: config.database, dataFolder: folder.path };
    store = await openStore({ ...place, onCommit: metrics.observeCommit });
    identity = assembleIdentity({ store, config, log });
    // Before the first admin: a start that fails over a setting must not use up the password that is shown once.
    oauth = await assembleOAuth({ store, config, identity, log });
    const instance = instanceOf(folder.path);
    engine = new DockerEngine({ address: config.engine, environment, owner: ownerOf(instance) });
    reactors = await assembleReactors({ store, config, changes: identity.changes, engine, log });
    executions = await assembleExecutions({
      store,
      logs: new LogStore(await openLogDatabase(place)),
      config,
      identity,
      area: reactors,
      engine,
      instance,
      log,
    });
    const admin = await makeFirstAdmin(store, identity.users, {
      username: config.admin_username,
      password: config.admin_password,
    });
    let baseUrl = config.base_url ?? '';
    const app = await buildApp({
      config,
      log,
      store,
      identity,
      oauth,
      reactors,
      executions,
      engine,
      metrics,
      baseUrl: () => baseUrl,
    });
    identity.start();
    oauth.start();
    reactors.start();
    await app.listen({
      host: config.host,
      port: config.port,
      listenTextResolver: () => 'listening',
    });
    const address = config.base_url ?? addressOf(app.server.address(), config.host);
    baseUrl = address;
    executions.start(servedBy(app));
    folder.announce(address);
    process.stdout.write(
      greeting({
        address,
        admin,
        passwordWasGiven: config.admin_password !== undefined,
        engineProblem: await problemOf(engine),
      }),
    );
    return {
      address,
      stop: () => stopAll({ app, executions, reactors, engine, identity, oauth, store, folder }),
    };
  } catch (error) {
    await stopAll({ executions, reactors, engine, identity, oauth, store, folder });
    throw error;
  }
}

interface Started {
  readonly app?: { close(): Promise<void> };
  readonly executions: ExecutionsArea | undefined;
  readonly reactors: ReactorsArea | undefined;
  readonly engine: Engine | undefined;
  readonly identity: Identity | undefined;
  readonly oauth: OAuth | undefined;
  readonly store: Store | undefined;
  readonly folder: DataFolder;
}

/** What uses something else stops before it. */
async function stopAll(started: Started): Promise<void> {
  await started.app?.close();
  await started.executions?.stop();
  await started.reactors?.stop();
  await started.engine?.close();
  started.identity?.stop();
  await started.oauth?.stop();
  await started.store?.close();
  started.folder.release();
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
function addressOf(listening: AddressInfo | string | null, host: string): string {
  const port = portOf(listening);
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

async function problemOf(engine: Engine): Promise<string | undefined> {
  try {
    await engine.ping();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
