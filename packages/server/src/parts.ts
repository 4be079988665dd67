import { join } from 'node:path';
import { Audit } from './audit/audit.ts';
import { idleRemovalEntry } from './audit/idle-removals.ts';
import { noteLogins } from './audit/logins.ts';
import type { Config } from './config.ts';
import { Configs } from './configs/configs.ts';
import { RunSecrets } from './configs/run-secrets.ts';
import { DockerEngine } from './engines/docker/docker-engine.ts';
import type { Engine } from './engines/engine.ts';
import { assembleEvents, type EventsArea } from './events/events-area.ts';
import type { Served } from './executions/api-address.ts';
import { assembleExecutions, type ExecutionsArea } from './executions/executions-area.ts';
import { instanceOf, ownerOf } from './executions/instance.ts';
import { LogStore } from './executions/log-store.ts';
import { Results } from './executions/results.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import type { createLog } from './http/service-log.ts';
import { assembleIdentity, type Identity } from './identity/identity.ts';
import { assembleOAuth, type OAuth } from './oauth/oauth.ts';
import { assembleReactors, type ReactorsArea } from './reactors/reactors-area.ts';
import type { Schedules } from './schedules/schedules.ts';
import { assembleSchedules } from './schedules/schedules-area.ts';
import { reseal } from './secrets/reseal.ts';
import { openSecretBox } from './secrets/secret-keys.ts';
import { assembleSharing, type SharingArea } from './sharing/sharing-area.ts';
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
  readonly configs: Configs;
  readonly sharing: SharingArea;
  /** Encrypts anew, in the background, what is encrypted with a key that was replaced. */
  reseal(): void;
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

/** For what stands around datagrams where they wait to be read; the limit itself is held when they are kept. */
const frameRoom = 1024 * 1024;

/**
 * Store → identity → oauth → engine → reactors → sharing → executions → events and schedules. When one cannot be made,
 * those before it are stopped.
 */
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
    spools: { folder: join(dataFolder, 'results'), mostBytes: config.results_limit + frameRoom },
  });
  made.defer(() => engine.close());
  const changes = identity.changes;
  const box = openSecretBox({ config, dataFolder, shared: store.dialect === 'postgres', log });
  const configs = new Configs({ store, changes, box });
  const noteIdleRemoval = idleRemovalEntry;
  const kept = { store, config, changes, configs, engine, noteIdleRemoval, log };
  const reactors = await assembleReactors(kept);
  made.defer(() => reactors.stop());
  const sharing = assembleSharing({ store, changes, users: identity.users, box });
  const logDatabase = await openLogDatabase(place);
  const logs = new LogStore(logDatabase);
  const results = new Results(logDatabase, config.results_limit);
  const area = reactors;
  const executions = await assembleExecutions({
    store,
    logs,
    results,
    config,
    identity,
    area,
    configs,
    runSecrets: new RunSecrets(store, box),
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
  const renew = () =>
    void reseal({ store, box, log }).catch((error: unknown) =>
      log.warn({ err: error }, 'encrypting secrets with the new key failed'),
    );
  const stack = made.move();
  const stop = () => stack.disposeAsync();
  const below = { metrics, store, identity, oauth, engine, audit };
  const above = { reactors, configs, sharing, reseal: renew, executions, events, schedules };
  return { ...below, ...above, stop };
}

/** Sets them all to work. `served`: what containers may ask of this process, where it serves the API. */
export function startWork(parts: Parts, served: Served | undefined): void {
  parts.identity.start();
  parts.oauth.start();
  parts.reseal();
  parts.reactors.start();
  parts.executions.start(served);
  parts.events.start();
  parts.schedules.start();
  parts.audit.start();
}
