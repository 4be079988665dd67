import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Audit } from '../audit/audit.ts';

const changing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * What senders, containers and applications do all day, and what has a record of its own: messages, results, state,
 * tokens. Logins are noted where passwords are checked.
 */
const unnoted =
  /(\/:reactorId\/(messages|state|executions\/:executionId\/results)|^\/(token|introspect|device_authorization|login))$/;

/** Parameters of paths that are credentials by themselves. */
const secretParameter = /nonce/i;

/**
 * Notes every operation that changes something, in one place, so that none is forgotten: a hook of its own for each such
 * route, which costs the others nothing.
 */
export function noteChanges(app: FastifyInstance, audit: Pick<Audit, 'note'>): void {
  app.decorateRequest('actor', null);
  app.addHook('onRoute', (route) => {
    if (!isNoted(route)) return;
    const action = route.schema?.summary ?? `${route.method} ${route.url}`;
    const note = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
      // Whoever is not even known has done nothing; failed logins are noted elsewhere.
      if (reply.statusCode !== 401)
        await audit.note({
          ...whoOf(request),
          address: request.ip,
          action,
          method: request.method,
          resource: resourceOf(request, reply),
          status: reply.statusCode,
          requestId: request.id,
        });
      return payload;
    };
    route.onSend = [route.onSend ?? [], note].flat();
  });
}

function isNoted(route: RouteOptions): boolean {
  const methods = [route.method].flat();
  if (!methods.some((method) => changing.has(method))) return false;
  return !(methods.includes('POST') && unnoted.test(route.url));
}

function whoOf({ caller, actor }: FastifyRequest) {
  const { userId = null, username = '', client = '' } = actor ?? {};
  if (caller === null) return { userId, username, client };
  const { by } = caller;
  return {
    userId: caller.userId,
    username: caller.username,
    client: by.kind === 'token' ? by.clientName : '',
  };
}

/** The address of what was made, or of what the request is about. */
function resourceOf(request: FastifyRequest, reply: FastifyReply): string {
  const { params } = request;
  const path = (request.routeOptions.url ?? '').replace(/:(\w+)/g, (_, name: string) => {
    const value =
      typeof params === 'object' && params !== null ? String(Reflect.get(params, name)) : '';
    return secretParameter.test(name) ? `${value.slice(0, 4)}…` : value;
  });
  const made = reply.statusCode === 201 ? String(reply.getHeader('location') ?? '') : '';
  const place = URL.parse(made, 'http://localhost')?.pathname;
  if (made === '' || place === undefined || /\/nonces\//.test(place)) return path;
  return place;
}
