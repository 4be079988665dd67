import type { Config } from '../config.ts';
import type { Identity } from '../identity/identity.ts';
import type { Store } from '../store/store.ts';
import { AccessControl } from './access-control.ts';
import { AssertionCheck } from './assertion.ts';
import { Clients } from './clients.ts';
import { TierLimiter, tierRates } from './tiers.ts';
import { Tokens } from './tokens.ts';

interface Parts {
  readonly store: Store;
  readonly config: Config;
  readonly identity: Identity;
}

/** Who may do what through which application: everything of this folder that the rest uses, put together once. */
export interface OAuth {
  readonly clients: Clients;
  readonly tokens: Tokens;
  readonly access: AccessControl;
  readonly limiter: TierLimiter;
  readonly assertions: AssertionCheck | undefined;
}

export async function assembleOAuth({ store, config, identity }: Parts): Promise<OAuth> {
  const { users, changes } = identity;
  const clients = new Clients({ store, changes, perUser: config.clients_per_user });
  const tokens = new Tokens(store, changes, config);
  return {
    clients,
    tokens,
    access: new AccessControl({ tokens, users, clients, changes }),
    limiter: new TierLimiter(tierRates(config)),
    assertions: await AssertionCheck.open(config, users),
  };
}
