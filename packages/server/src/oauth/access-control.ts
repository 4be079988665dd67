import { hash } from 'node:crypto';
import type { Caller, Flow } from '../contract/caller.ts';
import type { AccessChange, AccessChanges } from '../identity/access-changes.ts';
import type { User } from '../identity/user.ts';
import type { Users } from '../identity/users.ts';
import { BoundedMemory, type Remembered } from './access-memory.ts';
import { catalogue } from './apis.ts';
import type { Client } from './client.ts';
import type { Clients } from './clients.ts';
import { accessTokenLength, looksLike } from './secret-format.ts';
import type { StoredAccessToken, Tokens } from './tokens.ts';

const mostTokens = 100_000;
const mostUsed = 20_000;
const mostSubjects = 50_000;

/** Whom a live token speaks for, and where it may go. */
export interface TokenAccess {
  readonly caller: Caller;
  readonly flow: Flow;
  readonly user: User;
  readonly client: Client;
  /** The names of the APIs that its client is subscribed to. */
  readonly apis: ReadonlySet<string>;
  readonly scope: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** How the store knows a token. */
const keyOf = (token: string): string => hash('sha256', token, 'base64url');

interface ClientAccess {
  readonly client: Client;
  readonly apis: ReadonlySet<string>;
}

/** Stands for the application where there is none: an execution whose message a gateway's assertion brought. */
const noClient: Remembered<ClientAccess> = {
  live: true,
  value: {
    client: {
      id: '',
      ownerId: '',
      ownerUsername: '',
      name: 'execution',
      description: '',
      callbackUrls: [],
      key: '',
      tier: 'Unlimited',
      flows: new Set(),
      requirePkce: false,
      isPublic: false,
      createdAt: 0,
      updatedAt: 0,
    },
    apis: new Set(catalogue.map(({ name }) => name)),
  },
};

interface RememberedToken {
  readonly access: TokenAccess;
  readonly user: Remembered<User>;
  readonly client: Remembered<ClientAccess>;
  readonly authorization: Remembered<string> | undefined;
}

interface AccessParts {
  readonly tokens: Tokens;
  readonly users: Pick<Users, 'byId'>;
  readonly clients: Pick<Clients, 'byId' | 'subscriptionsOf'>;
  readonly changes: Pick<AccessChanges, 'onChange' | 'generation'>;
  /** How many tokens are remembered at most. */
  readonly mostTokens?: number;
}

const flows = [
  'authorization_code',
  'implicit',
  'password',
  'client_credentials',
  'device',
  'execution',
] as const satisfies readonly Flow[];

/**
 * Says whom an access token speaks for. What the store said once is remembered until a change of the token, its user,
 * its client or its authorization is announced; only live tokens are remembered, so guessing fills no memory.
 */
export class AccessControl {
  readonly #parts: AccessParts;
  readonly #tokens: BoundedMemory<RememberedToken>;
  readonly #users = new BoundedMemory<User>(mostSubjects);
  readonly #clients = new BoundedMemory<ClientAccess>(mostSubjects);
  /**
   * Those that were used lately, by the token itself: to hash it takes longer than all the rest of a check. What is
   * forgotten in `#tokens` is seen here by `live`.
   */
  readonly #used = new Map<string, Remembered<RememberedToken>>();
  readonly #authorizations = new BoundedMemory<string>(mostTokens);

  constructor(parts: AccessParts) {
    this.#parts = parts;
    this.#tokens = new BoundedMemory(parts.mostTokens ?? mostTokens);
    parts.changes.onChange((change) => this.#forget(change));
  }

  /** Undefined: unknown, expired, revoked, or of a user that is not active. Answers at once what it remembers. */
  byToken(token: string): TokenAccess | undefined | Promise<TokenAccess | undefined> {
    return this.remembered(token) ?? this.#ask(token);
  }

  /** What is known of the token without asking the store: the usual case, at every request. */
  remembered(token: string): TokenAccess | undefined {
    if (token.length !== accessTokenLength) return undefined;
    const known = this.#usedLately(token)?.value;
    if (known === undefined || known.access.expiresAt <= Date.now()) return undefined;
    if (!known.user.live || !known.client.live) return undefined;
    return known.authorization?.live === false ? undefined : known.access;
  }

  #usedLately(token: string): Remembered<RememberedToken> | undefined {
    const used = this.#used.get(token);
    if (used?.live === true) return used;
    const found = this.#tokens.get(keyOf(token));
    if (found === undefined) {
      this.#used.delete(token);
      return undefined;
    }
    if (this.#used.size >= mostUsed) this.#used.clear();
    this.#used.set(token, found);
    return found;
  }

  #ask(token: string): Promise<TokenAccess | undefined> | undefined {
    if (!looksLike('accessToken', token)) return undefined;
    const key = keyOf(token);
    this.#tokens.forget(key);
    return this.#load(key);
  }

  /** The user as last read; changed users are read again. */
  async userById(id: string): Promise<User | undefined> {
    return (await this.#userOf(id))?.value;
  }

  /** The application as last read; undefined when it is gone. */
  async clientById(id: string): Promise<Client | undefined> {
    return (await this.#clientOf(id))?.value.client;
  }

  async #load(key: string): Promise<TokenAccess | undefined> {
    // What was read before a change and arrives after it may be outdated, so it is not remembered.
    const before = this.#parts.changes.generation;
    const stored = await this.#parts.tokens.findByHash(Buffer.from(key, 'base64url'));
    if (stored === undefined || stored.expiresAt <= Date.now()) return undefined;
    const [user, client] = await Promise.all([
      this.#userOf(stored.userId),
      stored.clientId === null ? noClient : this.#clientOf(stored.clientId),
    ]);
    if (user === undefined || user.value.status !== 'active' || client === undefined)
      return undefined;
    const access = accessOf(stored, user.value, client.value);
    if (access !== undefined && this.#parts.changes.generation === before) {
      const { authorizationId } = stored;
      const authorization =
        authorizationId === null
          ? undefined
          : (this.#authorizations.get(authorizationId) ??
            this.#authorizations.remember(authorizationId, authorizationId));
      this.#tokens.remember(key, { access, user, client, authorization });
    }
    return access;
  }

  async #userOf(id: string): Promise<Remembered<User> | undefined> {
    const known = this.#users.get(id);
    if (known !== undefined) return known;
    const before = this.#parts.changes.generation;
    const user = await this.#parts.users.byId(id);
    if (user === undefined) return undefined;
    return this.#parts.changes.generation === before
      ? this.#users.remember(id, user)
      : { value: user, live: false };
  }

  async #clientOf(id: string): Promise<Remembered<ClientAccess> | undefined> {
    const known = this.#clients.get(id);
    if (known !== undefined) return known;
    const before = this.#parts.changes.generation;
    const [client, apis] = await Promise.all([
      this.#parts.clients.byId(id),
      this.#parts.clients.subscriptionsOf(id),
    ]);
    if (client === undefined) return undefined;
    const value = { client, apis };
    return this.#parts.changes.generation === before
      ? this.#clients.remember(id, value)
      : { value, live: false };
  }

  #forget({ kind, subject }: AccessChange): void {
    switch (kind) {
      case 'user':
        this.#users.forget(subject);
        break;
      case 'client':
        this.#clients.forget(subject);
        break;
      case 'authorization':
        this.#authorizations.forget(subject);
        break;
      case 'token':
        this.#tokens.forget(Buffer.from(subject, 'hex').toString('base64url'));
        break;
    }
  }
}

function accessOf(
  stored: StoredAccessToken,
  user: User,
  { client, apis }: ClientAccess,
): TokenAccess | undefined {
  const flow = flows.find((known) => known === stored.flow);
  if (flow === undefined) return undefined;
  const { id: userId, username, roles, grants } = user;
  const by = { kind: 'token', flow, clientId: client.id, clientName: client.name } as const;
  const { scope, issuedAt, expiresAt } = stored;
  const caller = { userId, username, roles, grants, by };
  return { caller, flow, user, client, apis, scope, issuedAt, expiresAt };
}
