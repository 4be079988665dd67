import type { FastifyInstance, FastifyRequest } from 'fastify';
import { basicChallenge, readBasic } from '../contract/basic-credentials.ts';
import type { ApiName, Caller } from '../contract/caller.ts';
import { fail, type ServiceError } from '../errors.ts';
import type { Credentials } from '../identity/credentials.ts';
import type { User } from '../identity/user.ts';
import type { AccessControl, TokenAccess } from '../oauth/access-control.ts';
import type { AssertionCheck } from '../oauth/assertion.ts';
import { readAuthorization } from './bearer-header.ts';
import { byNonce, type NonceDoorParts, nonceIn, takesNonce } from './nonce-door.ts';

export interface DoorkeeperParts extends NonceDoorParts {
  readonly access: AccessControl;
  readonly credentials: Pick<Credentials, 'check'>;
  /** Undefined until the operator trusts a gateway's keys. */
  readonly assertions: AssertionCheck | undefined;
}

type RouteAccess = NonNullable<FastifyRequest['routeOptions']['config']['access']>;

/** What a user needs besides the token, by API. */
const neededGrant: Readonly<Partial<Record<ApiName, string>>> = { Actors: 'reactors' };

/** Finds out, before anything else of a request is looked at, who calls and whether they may. */
export function keepDoor(app: FastifyInstance, parts: DoorkeeperParts): void {
  app.decorateRequest('caller', null);
  // Without a promise where memory answers: this runs before every operation.
  app.addHook('onRequest', (request, _reply, done) => {
    const { access } = request.route;
    if (access === undefined || request.is404) return done();
    try {
      const caller = identify(parts, request, access);
      if (!(caller instanceof Promise)) {
        request.caller = caller;
        return done();
      }
      caller.then((found) => {
        request.caller = found;
        done();
      }, done);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/**
 * Who a stream is for at this moment; undefined when what opened it would not open it any more. Who came by a gateway's
 * assertion has nothing to lose.
 */
export async function stillCalling(
  { access, nonces }: Pick<DoorkeeperParts, 'access' | 'nonces'>,
  request: FastifyRequest,
): Promise<Caller | undefined> {
  const { caller } = request;
  const api = request.routeOptions.config.access?.api;
  if (caller === null || api === undefined) return undefined;
  if (caller.by.kind === 'nonce') {
    const nonce = nonceIn(request);
    if (typeof nonce !== 'string' || !(await nonces.isThere(nonce))) return undefined;
    const user = await access.userById(caller.userId);
    return user?.status === 'active' ? callerFrom(user, caller.by) : undefined;
  }
  const given = readAuthorization(request.headers.authorization);
  if (given.scheme !== 'bearer') return caller;
  const found = await access.byToken(given.token);
  const grant = neededGrant[api];
  if (found?.apis.has(api) !== true) return undefined;
  return grant === undefined || found.caller.grants.has(grant) ? found.caller : undefined;
}

/** As nearly everybody writes it. */
const usualScheme = 'Bearer ';

function identify(
  parts: DoorkeeperParts,
  request: FastifyRequest,
  access: RouteAccess,
): Caller | Promise<Caller> {
  refuseTokenInQuery(request);
  const { authorization } = request.headers;
  if (authorization?.startsWith(usualScheme) === true) {
    const known = parts.access.remembered(authorization.slice(usualScheme.length));
    if (known !== undefined) return admit(parts, known, access.api);
  }
  const given = readAuthorization(authorization);
  switch (given.scheme) {
    case 'bearer': {
      const found = parts.access.byToken(given.token);
      return found instanceof Promise
        ? found.then((later) => admit(parts, later, access.api))
        : admit(parts, found, access.api);
    }
    case 'basic':
      return access.password === true
        ? byPassword(parts, request, access, given.header)
        : Promise.reject(missing(access));
    case 'malformed':
      throw malformed();
    default:
      return byAssertion(parts, request, access);
  }
}

function admit(parts: DoorkeeperParts, found: TokenAccess | undefined, api: ApiName): Caller {
  if (found === undefined) throw invalidToken();
  const { caller, client, apis, flow } = found;
  if (flow === 'execution' && api === 'Clients')
    throw forbidden(
      fail('not_allowed', { problem: "An execution's token cannot manage client applications." }),
    );
  if (!apis.has(api)) throw forbidden(fail('not_subscribed', { client: client.name, api }));
  requireGrant(caller, api);
  parts.limiter.take(client.id, caller.userId, client.tier);
  return caller;
}

async function byPassword(
  parts: DoorkeeperParts,
  request: FastifyRequest,
  access: RouteAccess,
  header: string,
): Promise<Caller> {
  const given = readBasic(header);
  const user = given && (await parts.credentials.check(given.username, given.password, request.ip));
  if (!user) {
    const error = fail('invalid_credentials', {
      problem: 'The username or the password is wrong.',
    });
    throw error.withHeaders({ 'www-authenticate': challenges(access) });
  }
  const caller = callerFrom(user, { kind: 'password' });
  requireGrant(caller, access.api);
  return caller;
}

async function byAssertion(
  parts: DoorkeeperParts,
  request: FastifyRequest,
  access: RouteAccess,
): Promise<Caller> {
  const header = parts.assertions && request.headers[parts.assertions.headerName];
  if (parts.assertions === undefined || header === undefined)
    return withoutHeader(parts, request, access);
  const user = typeof header === 'string' ? await parts.assertions.userOf(header) : undefined;
  if (user === undefined) {
    const error = fail('invalid_credentials', {
      problem: 'The signed assertion is not valid, has expired, or names no active user.',
    });
    throw error.withHeaders({ 'www-authenticate': invalidTokenChallenge });
  }
  const caller = callerFrom(user, { kind: 'assertion' });
  requireGrant(caller, access.api);
  return caller;
}

/** A nonce stands in the address, and counts only where nothing stands in the headers. */
async function withoutHeader(
  parts: DoorkeeperParts,
  request: FastifyRequest,
  access: RouteAccess,
): Promise<Caller> {
  const nonce = nonceIn(request);
  if (nonce === undefined || request.headers.authorization) throw missing(access);
  if (!takesNonce(request)) throw missing(access, nonceIsNotEnough);
  const { user, use } = await byNonce(parts, nonce);
  const caller = callerFrom(user, use);
  requireGrant(caller, access.api);
  return caller;
}

const nonceIsNotEnough =
  '; a nonce opens the operations of its reactor alone, and none that hand out access';

function callerFrom(user: User, by: Caller['by']): Caller {
  const { id: userId, username, roles, grants } = user;
  return { userId, username, roles, grants, by };
}

function requireGrant(caller: Caller, api: ApiName): void {
  const grant = neededGrant[api];
  if (grant === undefined || caller.grants.has(grant)) return;
  const { username } = caller;
  throw forbidden(fail('no_grant', { username, area: 'the reactors area', grant }));
}

/** RFC 6750 2.3 allows it and everyone advises against it: addresses end up in logs and histories. */
function refuseTokenInQuery(request: FastifyRequest): void {
  const { query } = request;
  if (typeof query !== 'object' || query === null || !('access_token' in query)) return;
  throw fail('malformed_request', {
    problem: 'an access token stands in the address; send it in the header Authorization: Bearer',
  }).withHeaders({
    'www-authenticate':
      'Bearer realm="reactord", error="invalid_request", error_description="the token belongs in the Authorization header"',
  });
}

const bearerChallenge = 'Bearer realm="reactord"';
const invalidTokenChallenge = `${bearerChallenge}, error="invalid_token", error_description="The token is unknown, has expired or was revoked"`;

const challenges = (access: RouteAccess): string =>
  access.password === true ? `${basicChallenge}, ${bearerChallenge}` : bearerChallenge;

function missing(access: RouteAccess, remark = ''): ServiceError {
  const needed =
    access.password === true
      ? 'your username and password (HTTP Basic), or an access token in the header Authorization: Bearer <token>'
      : 'an access token in the header Authorization: Bearer <token>';
  return fail('missing_credentials', { needed: needed + remark }).withHeaders({
    'www-authenticate': challenges(access),
  });
}

function invalidToken(): ServiceError {
  const error = fail('invalid_credentials', {
    problem: 'The access token is unknown, has expired or was revoked. Get a new one at /token.',
  });
  return error.withHeaders({ 'www-authenticate': invalidTokenChallenge });
}

function malformed(): ServiceError {
  return fail('malformed_request', {
    problem: 'the Authorization header is not of the form Bearer <token>',
  }).withHeaders({
    'www-authenticate': `${bearerChallenge}, error="invalid_request", error_description="The Authorization header is malformed"`,
  });
}

const forbidden = (error: ServiceError): ServiceError =>
  error.withHeaders({
    'www-authenticate': `${bearerChallenge}, error="insufficient_scope"`,
  });
