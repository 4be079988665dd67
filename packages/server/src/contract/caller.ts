import 'fastify';

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
    | { readonly kind: 'service' };
}

export const isAdmin = (caller: Caller): boolean => caller.roles.has('admin');

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
     * and password (HTTP Basic) too.
     */
    access?: { readonly api: ApiName; readonly password?: boolean };
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
