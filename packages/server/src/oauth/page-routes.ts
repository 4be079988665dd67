import cookies from '@fastify/cookie';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { sendPage } from '../contract/page-answer.ts';
import type { PageRoute, PageVisit, VisitAnswer } from './page-visit.ts';
import { pageAssets } from './pages/assets.ts';
import { Refusal } from './problem-pages.ts';
import { sessionCookie } from './session-cookie.ts';

const mostBytes = 16 * 1024;

/** Puts the pages on HTTP: what a browser sent becomes a visit, and what the visit comes to is sent back. */
export function pageRoutes(
  routes: readonly PageRoute[],
  baseUrl: () => string,
): FastifyPluginAsync {
  return async (app) => {
    await app.register(cookies);
    // Forms of other sites can be sent as many types, ours have one.
    app.removeContentTypeParser('application/json');
    for (const route of routes) {
      app.route({
        method: route.method,
        url: route.path,
        config: { page: true },
        bodyLimit: mostBytes,
        // A look at the headers alone must not use up what a page does, such as issuing a code.
        exposeHeadRoute: false,
        schema: {
          tags: ['Authorization'],
          summary: route.summary,
          description: route.description,
          ...(route.parameters !== undefined && { querystring: route.parameters }),
          response: { default: Type.String({ description: 'A page, or a redirect' }) },
        },
        // Parameters are described for people and read by the page itself, from the address as it came.
        validatorCompiler: () => (value: unknown) => ({ value }),
        handler: async (request, reply) => {
          const secure = baseUrl().startsWith('https:');
          const cookie = sessionCookie(secure);
          const answer = await answerTo(route, visitOf(request, cookie.name));
          if (answer.cookie === null) reply.clearCookie(cookie.name, cookie.options);
          else if (answer.cookie !== undefined)
            reply.setCookie(cookie.name, answer.cookie, cookie.options);
          return sendPage(reply, answer, secure);
        },
      });
    }
    for (const asset of pageAssets.values()) {
      app.get(asset.path, { schema: { hide: true } }, async (request, reply) => {
        reply.headers({ etag: asset.etag, 'cache-control': asset.cacheControl });
        if (request.headers['if-none-match'] === asset.etag) return reply.code(304).send();
        return reply.type(asset.contentType).send(asset.bytes);
      });
    }
  };
}

async function answerTo(route: PageRoute, visit: PageVisit): Promise<VisitAnswer> {
  try {
    return await route.answer(visit);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function visitOf(request: FastifyRequest, cookieName: string): PageVisit {
  const { body, headers, host, ip, log } = request;
  const address = request.raw.url ?? '';
  const at = address.indexOf('?');
  return {
    query: at === -1 ? '' : address.slice(at + 1),
    form: typeof body === 'object' && body !== null ? { ...body } : {},
    cookie: request.cookies[cookieName],
    origin: headers.origin,
    fetchSite: header(headers['sec-fetch-site']),
    host,
    address: ip,
    log,
    known: ({ id: userId, username }) => {
      request.actor = { userId, username };
    },
  };
}

const header = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;
