import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { readRoute, readRoutes } from '../contract/route-config.ts';
import { crossOrigin } from './cross-origin.ts';
import {
  answerBrokenAddress,
  answerBrokenConnection,
  answerErrors,
  type ErrorPages,
} from './error-answers.ts';
import { takeFirstSteps } from './first-steps.ts';
import { collectPaths, slashTolerance } from './path-table.ts';
import { requestId } from './request-ids.ts';
import { OneLinePerRequest, requestLog } from './request-log.ts';
import { answerUnknownPaths } from './unknown-paths.ts';

interface BareParts {
  readonly config: Pick<Config, 'trust_proxy' | 'cors_origins'>;
  readonly log: FastifyBaseLogger;
  /** How errors look where pages are. */
  readonly sendErrorPage: ErrorPages['send'];
}

/** What holds for every request whatever is asked, before the first route. */
export function bareApp({ config, log, sendErrorPage }: BareParts) {
  const app = Fastify({
    loggerInstance: log,
    genReqId: requestId,
    requestIdHeader: false,
    routerOptions: { ...slashTolerance, maxParamLength: 256 },
    bodyLimit: 1024 * 1024,
    requestTimeout: 300_000,
    // Connections that wait idly are closed at once when the service stops; those with a request are not.
    forceCloseConnections: 'idle',
    trustProxy: config.trust_proxy.length > 0 ? [...config.trust_proxy] : false,
    clientErrorHandler: answerBrokenConnection,
    frameworkErrors: answerBrokenAddress,
    childLoggerFactory: requestLog,
    logController: new OneLinePerRequest(log),
  }).withTypeProvider<TypeBoxTypeProvider>();
  const paths = collectPaths(app);
  readRoutes(app);
  const errorPages: ErrorPages = { isPage: paths.isPage, send: sendErrorPage };
  answerErrors(app, errorPages);
  takeFirstSteps(app, [
    introduce,
    crossOrigin(config.cors_origins, paths),
    answerUnknownPaths(app, paths, errorPages),
  ]);
  return app;
}

/** What every reply carries. The hooks that every request passes take callbacks: each promise costs as much as all they do. */
function introduce(request: FastifyRequest, reply: FastifyReply): boolean {
  readRoute(request);
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  return false;
}
