import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import { AccessChanges } from './access-changes.ts';
import { Credentials } from './credentials.ts';
import { HashQueue } from './hash-queue.ts';
import { LoginLimits } from './login-limits.ts';
import { Sessions } from './sessions.ts';
import { Users } from './users.ts';

interface Parts {
  readonly store: Store;
  readonly config: Pick<Config, 'session_idle_limit' | 'session_lifetime'>;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/** Who is who: everything of this folder that the rest of the service uses, put together once. */
export interface Identity {
  readonly users: Users;
  readonly changes: AccessChanges;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  /** Begins to look for changes of other processes and to clear away what has run out. */
  start(): void;
  stop(): void;
}

export function assembleIdentity({ store, config, log }: Parts): Identity {
  const changes = new AccessChanges(store, log);
  const hashes = new HashQueue();
  const users = new Users(store, changes, hashes);
  const credentials = new Credentials({ users, changes, hashes, limits: new LoginLimits(), log });
  const sessions = new Sessions(store, config, log);
  return {
    users,
    changes,
    credentials,
    sessions,
    start: () => {
      changes.start();
      sessions.start();
    },
    stop: () => {
      changes.stop();
      sessions.stop();
    },
  };
}
