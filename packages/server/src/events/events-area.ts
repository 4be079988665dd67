import type { Config } from '../config.ts';
import { admit } from '../executions/admit.ts';
import type { ExecutionsArea } from '../executions/executions-area.ts';
import type { Identity } from '../identity/identity.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import { Courier } from './courier.ts';
import { EventFollowing } from './event-following.ts';
import { WebhookKeys } from './webhook-keys.ts';

interface Parts {
  readonly store: Store;
  readonly config: Config;
  readonly identity: Pick<Identity, 'users'>;
  readonly reactors: Reactors;
  readonly executions: Pick<ExecutionsArea, 'wake'>;
  readonly log: { warn(facts: object, message: string): void };
}

/** What happens, told to whoever wants to know: everything of this folder that the rest uses, put together once. */
export interface EventsArea {
  readonly keys: WebhookKeys;
  readonly courier: Courier;
  readonly following: EventFollowing;
  start(): void;
  stop(): Promise<void>;
}

export async function assembleEvents(parts: Parts): Promise<EventsArea> {
  const { store, config, identity, reactors, executions, log } = parts;
  const keys = await WebhookKeys.open(store);
  const courier = new Courier({
    store,
    config,
    reactors,
    keys,
    log,
    userById: (id) => identity.users.byId(id),
    send: async (reactorId, { id: userId, username }, body, beside) => {
      const message = { contentType: 'application/json', body: Buffer.from(body) } as const;
      const executor = { userId, username, clientId: null };
      await admit(store, { reactorId, executor, message, environment: {} }, beside);
      executions.wake(reactorId);
    },
  });
  const following = new EventFollowing(store, config.tenant);
  return {
    keys,
    courier,
    following,
    start: () => courier.start(),
    stop: async () => {
      following.stop();
      await courier.stop();
    },
  };
}
