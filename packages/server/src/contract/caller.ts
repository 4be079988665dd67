import 'fastify';
import type { PermissionLevel } from './permission-level.ts';

/** The APIs a client subscribes to. */
export type ApiName = 'Clients' | 'Profiles' | 'Actors';

/** By which way a token came to be. `execution`: the token that a running container is given. */
export type Flow =
  | 'authorization_code'
  | 'implicit'
  | 'password'
  | 'client_credentials'
  | 'device'
  | 'execution';

/** Who makes the request: found once, at the door, and believed from there on. */
export interface Caller {
  readonly userId: string;
  readonly username: string;
  readonly roles: ReadonlySet<string>;
  readonly grants: ReadonlySet<string>;
  /** How the caller proved itself. */
  readonly by:
    | {
        readonly kind: 'token';
        readonly flow: Flow;
        readonly clientId: string;
        readonly clientName: string;
      }
    | { readonly kind: 'password' }
    | { readonly kind: 'assertion' }
    /** Nobody called: the service does what its owner has set up. */
    | { readonly kind: 'service' }
    | NonceUse;
}

/** A nonce acts for its owner, at its level at most, on one reactor or under one alias alone. */
export interface NonceUse {
  readonly kind: 'nonce';
  /** The one name in a path that it opens; undefined where it opens a reactor, under every name. */
  readonly alias: string | undefined;
  readonly reactorId: string | undefined;
  readonly level: PermissionLevel;
  readonly clientId: string | null;
  /** Counts this request as a use, once; rejects when no use is left. Called when the level has been found enough. */
  use(): Promise<void>;
}

/**
 * Whether the user's role of an admin counts. It does not go into containers: whose code runs there may be anybody's
 * who has shared a reactor.
 */
export const hasAdminRole = ({ roles, by }: Caller): boolean =>
  roles.has('admin') && !(by.kind === 'token' && by.flow === 'execution');

/** A nonce opens its reactor, and not what else its owner may do. */
export const isAdmin = (caller: Caller): boolean =>
  caller.by.kind !== 'nonce' && hasAdminRole(caller);

interface Actor {
  readonly userId?: string;
  readonly username?: string;
  /** The name of the application. */
  readonly client?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Who may call: a token whose client is subscribed to the API. `password: true` takes the user's own username
     * and password (HTTP Basic) too. `nonce: false`: no nonce opens it, although it is an operation of one reactor.
     */
    access?: { readonly api: ApiName; readonly password?: boolean; readonly nonce?: false };
  }
  interface FastifyRequest {
    /** Null on routes without `access`; use `callerOf`. */
    caller: Caller | null;
    /** Who acts, as far as routes without `access` find out: the person of a page, the application at an endpoint. */
    actor: Actor | null;
  }
}

/** The caller of a route that has `access`. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null)
    throw new Error('this route has no `access`, so nobody was identified');
  return request.caller;
}
