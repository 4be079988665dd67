import { fail } from '../errors.ts';
import { admit } from '../executions/admit.ts';
import type { ExecutionsArea } from '../executions/executions-area.ts';
import type { Identity } from '../identity/identity.ts';
import type { Store } from '../store/store.ts';
import { Schedules } from './schedules.ts';

interface Parts {
  readonly store: Store;
  readonly identity: Pick<Identity, 'users'>;
  readonly executions: Pick<ExecutionsArea, 'wake'>;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/** What the ancestor sent, so that images that look for it find it. */
const text = 'This is your cron execution';

export function assembleSchedules({ store, identity, executions, log }: Parts): Schedules {
  return new Schedules({
    store,
    log,
    send: async ({ id: reactorId, ownerId, dueAt }, beside) => {
      const owner = await identity.users.byId(ownerId);
      if (owner?.status !== 'active' || !owner.grants.has('reactors'))
        throw fail('not_allowed', {
          problem: 'The owner of the reactor may not use reactors any more.',
        });
      const executor = { userId: owner.id, username: owner.username, clientId: null };
      const message = { contentType: 'str', body: Buffer.from(text) } as const;
      const environment = { Time_msg_queued: new Date(dueAt).toISOString() };
      await admit(store, { reactorId, executor, message, environment }, beside);
      executions.wake(reactorId);
    },
  });
}
