import type { Config } from '../config.ts';
import type { Identity } from '../identity/identity.ts';
import type { Store } from '../store/store.ts';
import { AccessControl } from './access-control.ts';
import { ClientProofs } from './access-proofs.ts';
import { AssertionCheck } from './assertion.ts';
import { Authorizations } from './authorizations.ts';
import { Clients } from './clients.ts';
import { AuthorizationCodes } from './codes.ts';
import { provideCommandLineClient } from './command-line-client.ts';
import { DeviceCodes } from './device-codes.ts';
import type { GrantParts, SecurityLog } from './grant-context.ts';
import { checkIssuer } from './metadata.ts';
import { RefreshSuccessors } from './refresh-successors.ts';
import { RefreshTokens } from './refresh-tokens.ts';
import { TierLimiter, tierRates } from './tiers.ts';
import { TokenPurge } from './token-purge.ts';
import { Tokens } from './tokens.ts';

interface Parts {
  readonly store: Store;
  readonly config: Config;
  readonly identity: Identity;
  readonly log: SecurityLog;
}

/** Who may do what through which application: everything of this folder that the rest uses, put together once. */
export interface OAuth {
  readonly clients: Clients;
  readonly proofs: ClientProofs;
  readonly users: Identity['users'];
  readonly tokens: Tokens;
  readonly codes: AuthorizationCodes;
  readonly refreshTokens: RefreshTokens;
  readonly deviceCodes: DeviceCodes;
  readonly authorizations: Authorizations;
  readonly access: AccessControl;
  readonly limiter: TierLimiter;
  readonly assertions: AssertionCheck | undefined;
  readonly grants: GrantParts;
  readonly log: SecurityLog;
  /** Begins to clear away in the background what has expired. */
  start(): void;
  stop(): Promise<void>;
}

export async function assembleOAuth({ store, config, identity, log }: Parts): Promise<OAuth> {
  checkIssuer(config);
  const { users, changes, credentials } = identity;
  const clients = new Clients({ store, changes, perUser: config.clients_per_user });
  await provideCommandLineClient(store, clients.apis);
  const tokens = new Tokens(store, changes, config);
  const codes = new AuthorizationCodes(store, changes);
  const deviceCodes = new DeviceCodes(store);
  const authorizations = new Authorizations(store, changes);
  const successors = await RefreshSuccessors.open(store);
  const settings = config;
  const refreshTokens = new RefreshTokens({ store, tokens, authorizations, successors, settings });
  const purge = new TokenPurge(store, log);
  const access = new AccessControl({ tokens, users, clients, changes });
  const proofs = new ClientProofs({ store, clients, changes });
  return {
    clients,
    proofs,
    users,
    tokens,
    codes,
    refreshTokens,
    deviceCodes,
    authorizations,
    access,
    limiter: new TierLimiter(tierRates(config)),
    assertions: await AssertionCheck.open(config, users),
    grants: {
      tokens,
      codes,
      refreshTokens,
      deviceCodes,
      users,
      registrants: access,
      credentials,
      config,
      log,
    },
    log,
    start: () => purge.start(),
    stop: () => purge.stop(),
  };
}
