import type { Config } from '../config.ts';
import type { Configs } from '../configs/configs.ts';
import type { Engine } from '../engines/engine.ts';
import type { AccessChanges } from '../identity/access-changes.ts';
import type { QuotaDefaults } from '../identity/quotas.ts';
import type { Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { IdleReactors } from './idle-reactors.ts';
import { idleLimitMs } from './idle-time.ts';
import { ImageKeeper } from './images.ts';
import { PullCredentials } from './pull-credentials.ts';
import { ReactorStates } from './reactor-states.ts';
import { Reactors } from './reactors.ts';
import { RegistryLogins } from './registry-credentials.ts';
import { Removal } from './removal.ts';
import { Tending } from './tending.ts';

interface Parts {
  readonly store: Store;
  readonly config: Pick<
    Config,
    'pull_policy' | 'registry_auth' | 'idle_removal' | 'execution_retention'
  > &
    QuotaDefaults;
  readonly changes: Pick<AccessChanges, 'write' | 'onChange'>;
  readonly configs: Pick<Configs, 'credentialsOf'>;
  readonly engine: Pick<Engine, 'pull' | 'findImage'>;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  /** Keeps that an idle reactor was removed; part of the unit in which it is. */
  readonly noteIdleRemoval: (reactorId: string) => Statement;
}

/** Which images answer which inboxes: everything of this folder that the rest uses, put together once. */
export interface ReactorsArea {
  readonly reactors: Reactors;
  readonly states: ReactorStates;
  readonly images: ImageKeeper;
  readonly removal: Removal;
  /** Goes on with what a restart has interrupted. Whoever listens to `onRemoving` subscribes before. */
  start(): void;
  stop(): Promise<void>;
}

/** Throws a SettingError when the file of registry credentials is not one. */
export async function assembleReactors(parts: Parts): Promise<ReactorsArea> {
  const { store, config, changes, configs, engine, log } = parts;
  const logins = await RegistryLogins.open(config.registry_auth);
  const credentials = new PullCredentials(logins, configs);
  const reactors = new Reactors({ store, changes, log, quotas: config });
  const tending = new Tending({
    store,
    log,
    takeUp: (id, status) => {
      if (status === 'SUBMITTED') images.fetch(id);
      else void removal.finish(id);
    },
  });
  const policy = config.pull_policy;
  const images = new ImageKeeper({ store, reactors, engine, credentials, policy, log, tending });
  const removal = new Removal({ store, reactors, changes, log, tending });
  const idle = new IdleReactors({ ...parts, reactors, removal, limitMs: idleLimitMs(config) });
  return {
    reactors,
    states: new ReactorStates(store),
    images,
    removal,
    start: () => {
      tending.start();
      removal.start();
      idle.start();
    },
    stop: async () => {
      tending.stop();
      await idle.stop();
      await Promise.all([images.stop(), removal.stop()]);
    },
  };
}
