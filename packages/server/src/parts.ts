import { Audit } from './audit/audit.ts';
import { noteLogins } from './audit/logins.ts';
import type { Config } from './config.ts';
import { DockerEngine } from './engines/docker/docker-engine.ts';
import type { Engine } from './engines/engine.ts';
import { assembleEvents, type EventsArea } from './events/events-area.ts';
import { assembleExecutions, type ExecutionsArea } from './executions/executions-area.ts';
import { instanceOf, ownerOf } from './executions/instance.ts';
import { LogStore } from './executions/log-store.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import type { createLog } from './http/request-log.ts';
import { assembleIdentity, type Identity } from './identity/identity.ts';
import { assembleOAuth, type OAuth } from './oauth/oauth.ts';
import { assembleReactors, type ReactorsArea } from './reactors/reactors-area.ts';
import type { Schedules } from './schedules/schedules.ts';
import { assembleSchedules } from './schedules/schedules-area.ts';
import { openLogDatabase, openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

/** Everything below HTTP, put together and not yet at work. */
export interface Parts {
  readonly metrics: Metrics;
  readonly store: Store;
  readonly identity: Identity;
  readonly oauth: OAuth;
  readonly engine: Engine;
  readonly reactors: ReactorsArea;
  readonly executions: ExecutionsArea;
  readonly events: EventsArea;
  readonly schedules: Schedules;
  readonly audit: Audit;
  /** What uses something else stops before it. */
  stop(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataFolder: string;
  readonly log: ReturnType<typeof createLog>;
}

/** Store → identity → oauth → engine → reactors → executions → events and schedules. When one cannot be made, those before it are stopped. */
export async function assembleParts(ground: Ground): Promise<Parts> {
  const { config, environment, dataFolder, log } = ground;
  const metrics = createMetrics();
  await using made = new AsyncDisposableStack();
  const place = { database: config.database, dataFolder };
  const store = await openStore({ ...place, log, onCommit: metrics.observeCommit });
  made.defer(() => store.close());
  const identity = assembleIdentity({ store, config, log });
  made.defer(() => identity.stop());
  const audit = new Audit({ store, config, log });
  made.defer(() => audit.stop());
  noteLogins(audit, identity);
  const oauth = await assembleOAuth({ store, config, identity, log });
  made.defer(() => oauth.stop());
  const instance = instanceOf(dataFolder);
  const engine = new DockerEngine({
    address: config.engine,
    environment,
    owner: ownerOf(instance),
  });
  made.defer(() => engine.close());
  const changes = identity.changes;
  const reactors = await assembleReactors({ store, config, changes, engine, log });
  made.defer(() => reactors.stop());
  const logs = new LogStore(await openLogDatabase(place));
  const area = reactors;
  const executions = await assembleExecutions({
    store,
    logs,
    config,
    identity,
    area,
    engine,
    instance,
    log,
  });
  made.defer(() => executions.stop());
  const told = { store, config, identity, reactors: reactors.reactors, executions, log };
  const events = await assembleEvents(told);
  made.defer(() => events.stop());
  const schedules = assembleSchedules(told);
  made.defer(() => schedules.stop());
  const stack = made.move();
  const stop = () => stack.disposeAsync();
  const above = { reactors, executions, events, schedules, audit };
  return { metrics, store, identity, oauth, engine, ...above, stop };
}
