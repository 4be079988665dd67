import type { FastifyBaseLogger } from 'fastify';
import type { Audit } from '../audit/audit.ts';
import { auditRoutes } from '../audit/audit-routes.ts';
import type { Config } from '../config.ts';
import type { Configs } from '../configs/configs.ts';
import { sendPage } from '../contract/page-answer.ts';
import type { Engine } from '../engines/engine.ts';
import { deliveryRoutes } from '../events/delivery-routes.ts';
import { eventRoutes } from '../events/event-routes.ts';
import type { EventsArea } from '../events/events-area.ts';
import { deadLetterRoutes } from '../executions/dead-letter-routes.ts';
import { executionRoutes } from '../executions/execution-routes.ts';
import type { ExecutionsArea } from '../executions/executions-area.ts';
import { inboxRoutes } from '../executions/inbox-routes.ts';
import { isFromInside } from '../executions/inside.ts';
import { logRoutes } from '../executions/log-routes.ts';
import { resultRoutes } from '../executions/result-routes.ts';
import { workerRoutes } from '../executions/worker-routes.ts';
import type { Identity } from '../identity/identity.ts';
import { profileRoutes } from '../identity/profile-routes.ts';
import { clientRoutes } from '../oauth/client-routes.ts';
import { metadataRoutes } from '../oauth/metadata-routes.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { pageRoutes } from '../oauth/page-routes.ts';
import { personPages } from '../oauth/person-pages.ts';
import { problemPage } from '../oauth/problem-pages.ts';
import { tokenRoutes } from '../oauth/token-routes.ts';
import { configRoutes } from '../reactors/config-routes.ts';
import { reactorRoutes } from '../reactors/reactor-routes.ts';
import type { ReactorsArea } from '../reactors/reactors-area.ts';
import { stateRoutes } from '../reactors/state-routes.ts';
import { searchRoutes } from '../search/search-routes.ts';
import { aliasRoutes } from '../sharing/alias-routes.ts';
import { nonceRoutes } from '../sharing/nonce-routes.ts';
import { permissionRoutes } from '../sharing/permission-routes.ts';
import type { SharingArea } from '../sharing/sharing-area.ts';
import type { Store } from '../store/store.ts';
import { wrapAnswers } from './answers.ts';
import { serveApiReference } from './api-reference.ts';
import { noteChanges } from './audit-notes.ts';
import { bareApp } from './bare-app.ts';
import { readBodies } from './bodies.ts';
import { keepDoor, stillCalling } from './doorkeeper.ts';
import { checkFields } from './field-checks.ts';
import { healthRoutes } from './health-routes.ts';
import { type Metrics, measureRequests } from './metrics.ts';
import { answerInOAuth } from './oauth-answers.ts';
import { describeApi } from './openapi.ts';

export interface AppParts {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly store: Store;
  readonly identity: Identity;
  readonly oauth: OAuth;
  readonly reactors: ReactorsArea;
  readonly configs: Configs;
  readonly sharing: SharingArea;
  readonly executions: ExecutionsArea;
  readonly events: EventsArea;
  readonly audit: Audit;
  readonly engine: Engine;
  readonly metrics: Metrics;
  /** Known only once the service listens, when it takes a free port. */
  readonly baseUrl: () => string;
}

export type App = Awaited<ReturnType<typeof buildApp>>;

/** The HTTP side of the service, put together and not yet listening. */
export async function buildApp(parts: AppParts) {
  const { config, log, store, identity, oauth, engine, metrics, baseUrl } = parts;
  const { reactors, configs, sharing, executions, events } = parts;
  const app = bareApp({
    config,
    log,
    sendErrorPage: (reply, error) =>
      sendPage(reply, problemPage(error), baseUrl().startsWith('https:')),
  });
  const door = { ...oauth, nonces: sharing.nonces, credentials: identity.credentials };
  keepDoor(app, door);
  readBodies(app);
  checkFields(app);
  wrapAnswers(app);
  noteChanges(app, parts.audit);
  await describeApi(app, baseUrl);
  measureRequests(app, metrics);
  await app.register(healthRoutes({ store, engine }));
  await app.register(
    clientRoutes({ clients: oauth.clients, allowHttp: config.allow_http, baseUrl }),
  );
  await app.register(profileRoutes({ ...identity, baseUrl }));
  await app.register(pageRoutes(personPages({ store, config, identity, oauth, baseUrl }), baseUrl));
  // A reply that is held would hold up the stop as well.
  app.addHook('preClose', async () => executions.waiting.stop());
  await app.register(reactorRoutes({ ...reactors, store, configs, config, baseUrl }));
  await app.register(
    stateRoutes({
      ...reactors,
      config,
      baseUrl,
      isFromInside: (request, reactorId) =>
        isFromInside({ ...executions, store }, request, reactorId),
    }),
  );
  await app.register(configRoutes({ ...reactors, configs, config, baseUrl }));
  await app.register(permissionRoutes({ ...reactors, users: identity.users }));
  await app.register(aliasRoutes({ ...reactors, ...sharing, baseUrl }));
  await app.register(nonceRoutes({ ...reactors, ...sharing, baseUrl }));
  await app.register(
    inboxRoutes({
      store,
      reactors: reactors.reactors,
      waiting: executions.waiting,
      logs: executions.logs.logs,
      config,
      baseUrl,
      onAdmitted: executions.wake,
      onDelayed: executions.expect,
      onDropped: (id) => executions.executions.tellSettled(id),
    }),
  );
  await app.register(executionRoutes({ ...reactors, store, baseUrl, halt: executions.halt }));
  await app.register(
    resultRoutes({ ...executions, store, reactors: reactors.reactors, config, baseUrl }),
  );
  await app.register(
    deadLetterRoutes({
      store,
      reactors: reactors.reactors,
      config,
      baseUrl,
      onAdmitted: executions.wake,
    }),
  );
  await app.register(
    workerRoutes({
      store,
      reactors: reactors.reactors,
      workers: executions.workers,
      config,
      baseUrl,
    }),
  );
  await app.register(
    logRoutes({
      ...reactors,
      store,
      ...executions.logs,
      baseUrl,
      stillCalling: (request) => stillCalling(door, request),
    }),
  );
  await app.register(
    eventRoutes({
      ...events,
      reactors: reactors.reactors,
      stillAllowed: async (request) => (await stillCalling(door, request)) !== undefined,
    }),
  );
  await app.register(deliveryRoutes({ store, reactors: reactors.reactors, ...events, baseUrl }));
  await app.register(
    searchRoutes({
      store,
      logs: executions.logs.logs,
      reactors: reactors.reactors,
      workers: executions.workers,
      config,
      baseUrl,
    }),
  );
  await app.register(auditRoutes({ store, baseUrl }));
  await app.register(metadataRoutes({ config, baseUrl }));
  await app.register(async (endpoints) => {
    answerInOAuth(endpoints);
    await endpoints.register(tokenRoutes({ oauth, baseUrl }));
  });
  await serveApiReference(app);
  return app;
}
