import type { Config } from '../config.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import type { Executions } from './executions.ts';
import { LogFollowing } from './log-follow.ts';
import type { LogStore } from './log-store.ts';
import type { Results } from './results.ts';
import { Retention } from './retain.ts';

interface Parts {
  readonly store: Store;
  readonly logs: LogStore;
  readonly results: Results;
  readonly config: Pick<
    Config,
    'log_retention' | 'result_retention' | 'execution_retention' | 'dead_letter_retention'
  >;
  readonly executions: Executions;
  readonly reactors: Pick<Reactors, 'onRemoved'>;
  readonly log: { warn(facts: object, message: string): void };
}

/** What happens to logs besides being written: they are read, followed, and removed when they are too old. */
export interface LogsArea {
  readonly logs: LogStore;
  readonly following: LogFollowing;
  start(): void;
  /** Before the store closes. */
  stop(): Promise<void>;
}

export function assembleLogs(parts: Parts): LogsArea {
  const { store, logs, results, config, executions, reactors, log } = parts;
  const following = new LogFollowing(logs, executions);
  const retention = new Retention({ store, logs, results, config, log });
  reactors.onRemoved((reactorId) => void retention.forgetReactor(reactorId));
  return {
    logs,
    following,
    start: () => retention.start(),
    stop: async () => {
      following.stop();
      await retention.stop();
      await logs.close();
    },
  };
}
