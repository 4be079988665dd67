import type { RouteOptions } from 'fastify';

const scopes = { PRODUCTION: 'Everything that the user may do' };

/** How callers prove themselves, for the API description. */
export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token from /token.',
  },
  oauth2: {
    type: 'oauth2',
    description: 'An access token, and the flows by which to get one.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/authorize',
        tokenUrl: '/token',
        refreshUrl: '/token',
        scopes,
      },
      implicit: { authorizationUrl: '/authorize', scopes },
      password: { tokenUrl: '/token', refreshUrl: '/token', scopes },
      clientCredentials: { tokenUrl: '/token', scopes },
    },
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: "The user's own username and password.",
  },
  nonce: {
    type: 'apiKey',
    in: 'query',
    name: 'x-nonce',
    description: 'A nonce of the reactor, instead of a token.',
  },
  clientSecret: {
    type: 'http',
    scheme: 'basic',
    description: "The client application's key and secret.",
  },
} as const;

/** What the doorkeeper takes at a route, in the words of the API description. */
export function securityOf(route: RouteOptions) {
  const access = route.config?.access;
  if (access === undefined) return {};
  const nonce = access.nonce !== false && route.url.includes(':reactorId');
  const ways = [{ bearer: [] }, { oauth2: ['PRODUCTION'] }, ...(nonce ? [{ nonce: [] }] : [])];
  return { security: access.password === true ? [{ basic: [] }, ...ways] : ways };
}
