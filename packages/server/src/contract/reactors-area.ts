import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';

/** The reactors area has two spellings; links use the first, and the description of the API shows it alone. */
const [spelling, otherSpelling] = ['/actors/v2', '/reactors/v2'];

/** Who may use it: a token of a client that is subscribed, for a user with the grant. */
export const reactorsAccess = { api: 'Actors' } as const;

/** For operations that hand out access: a nonce, which is access handed out, does not open them. */
export const reactorsAccessWithoutNonce = { api: 'Actors', nonce: false } as const;

/** Serves the routes, whose paths begin after the area's, under both spellings. */
export function underBothSpellings(routes: FastifyPluginAsyncTypebox): FastifyPluginAsyncTypebox {
  return async (app) => {
    await app.register(routes, { prefix: spelling });
    await app.register(
      async (other) => {
        other.addHook('onRoute', (route) => {
          route.schema = { ...route.schema, hide: true };
        });
        await other.register(routes);
      },
      { prefix: otherSpelling },
    );
  };
}
