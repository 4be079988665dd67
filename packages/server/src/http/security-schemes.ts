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
  const ways = [{ bearer: [] }, { oauth2: ['PRODUCTION'] }];
  return { security: access.password === true ? [{ basic: [] }, ...ways] : ways };
}
