import type { Config } from '../config.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { OnCommit } from '../store/group-commit.ts';
import { openLogDatabase } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Executions } from './executions.ts';
import { LogFollowing } from './log-follow.ts';
import { LogStore } from './log-store.ts';
import { Retention } from './retain.ts';

interface Parts {
  readonly store: Store;
  readonly config: Pick<Config, 'database' | 'log_retention' | 'execution_retention'>;
  readonly dataFolder: string;
  readonly executions: Executions;
  readonly reactors: Pick<Reactors, 'onRemoved'>;
  readonly log: {
    warn(facts: object, message: string): void;
    warn(message: string): void;
  };
  readonly onCommit?: OnCommit | undefined;
}

/** The logs of executions: written, followed, and removed when they are too old. */
export interface LogsArea {
  readonly logs: LogStore;
  readonly following: LogFollowing;
  readonly retention: Retention;
  start(): void;
  /** After everything that writes logs has stopped. */
  stop(): Promise<void>;
}

export async function openLogs(parts: Parts): Promise<LogsArea> {
  const { store, config, dataFolder, executions, reactors, log, onCommit } = parts;
  const { database } = config;
  const logs = new LogStore(await openLogDatabase({ database, dataFolder, log, onCommit }));
  const following = new LogFollowing(logs, executions);
  const retention = new Retention({ store, logs, config, log });
  reactors.onRemoved((reactorId) => void retention.forgetReactor(reactorId));
  return {
    logs,
    following,
    retention,
    start: () => retention.start(),
    stop: async () => {
      following.stop();
      await retention.stop();
      await logs.close();
    },
  };
}
