import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * What a route says about itself, for the HTTP layer to act on.
 *
 * - `enveloped`: `{status, message, result, version}` unless the caller asks for `naked=true`
 * - `bare`: the result alone unless the caller asks for `naked=false`
 * - `raw`: the handler writes its own bytes: pages, metrics, streams, OAuth replies
 */
export type AnswerShape = 'enveloped' | 'bare' | 'raw';

type RouteConfig = FastifyRequest['routeOptions']['config'];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the result is wrapped. `raw` when not said. */
    answer?: AnswerShape;
    /** The sentence in the envelope of a success. */
    message?: string;
    /** An example of the body, for the description, where no schema checks it: its bytes are the caller's own. */
    bodyExample?: unknown;
    /** Pages carry a session cookie, so other origins may never read them. */
    page?: boolean;
    /** Refusals are in the words of OAuth (RFC 6749 5.2), those of a wrong verb included. */
    oauth?: boolean;
  }
  interface FastifyRequest {
    /** What the request's route says of itself. Fastify's own `routeOptions` is put together anew at each look. */
    route: RouteConfig;
  }
  interface FastifyReply {
    /** The sentence in the envelope of this reply, where it says more than the route's `message`. */
    sentence: string;
  }
}

/** Gives requests their `route`, which `readRoute` sets. */
export function readRoutes(app: FastifyInstance): void {
  app.decorateRequest('route');
}

/** To be called before anything that looks at `request.route`. */
export function readRoute(request: FastifyRequest): void {
  request.route = request.routeOptions.config;
}
