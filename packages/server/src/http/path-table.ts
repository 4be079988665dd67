import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import createRouter, { type HTTPMethod } from 'find-my-way';

/** Same tolerance for slashes here as in the service's own router, so that both find the same route. */
export const slashTolerance = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } as const;

/** Which verbs a path has, and what its routes say of themselves: Fastify's router answers neither. */
export interface PathTable {
  verbsOf(path: string): readonly string[];
  isPage(path: string): boolean;
  isOAuth(path: string): boolean;
}

const verbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies HTTPMethod[];

export function collectPaths(app: FastifyInstance): PathTable {
  const router = createRouter({ ...slashTolerance });
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const verb = verbs.find((known) => known === method);
      if (verb !== undefined && !router.hasRoute(verb, route.url)) {
        router.on(verb, route.url, () => {}, route.config);
      }
    }
  });
  const routesAt = (path: string) =>
    verbs.flatMap((verb) => {
      const found = router.find(verb, path);
      return found === null ? [] : [{ verb, config: found.store }];
    });
  return {
    verbsOf: (path) => routesAt(path).map((route) => route.verb),
    isPage: (path) => routesAt(path).some(({ config }) => says(config, 'page')),
    isOAuth: (path) => routesAt(path).some(({ config }) => says(config, 'oauth')),
  };
}

function says(config: unknown, key: keyof FastifyContextConfig & ('page' | 'oauth')): boolean {
  return typeof config === 'object' && config !== null && Reflect.get(config, key) === true;
}
