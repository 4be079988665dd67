import type {
  DoneFuncWithErrOrRes,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify';
import { flagProblem, toJson, wrap } from '../contract/wrapping.ts';

/**
 * Wraps what handlers return: envelope or bare result, compact or indented, as the route and the caller want it.
 * By hooks of the routes that have something to wrap: one that returns at once still takes its time.
 */
export function wrapAnswers(app: FastifyInstance): void {
  app.decorateReply('sentence', '');
  app.addHook('onRoute', (route) => {
    const { answer } = route.config ?? {};
    if (answer === undefined || answer === 'raw') return;
    route.preValidation = [checkFlags, ...[route.preValidation ?? []].flat()];
    route.preSerialization = [...[route.preSerialization ?? []].flat(), wrapResult];
    route.onSend = [wrapNothing, ...[route.onSend ?? []].flat()];
  });
}

/** Early: a wrong `naked` is refused before the operation does anything. */
function checkFlags(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  const problem = flagProblem(request, 'naked') ?? flagProblem(request, 'pretty');
  if (problem === undefined) done();
  else done(problem);
}

function wrapResult(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  if (reply.statusCode >= 400) {
    done(null, payload);
    return;
  }
  reply.serializer((wrapped: unknown) => toJson(request, wrapped));
  done(null, wrap(request, reply, payload));
}

/** A null result never reaches the serialization, and would be sent as an empty body. */
function wrapNothing(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  const nothing = payload === null || payload === undefined || payload === '';
  if (!nothing || reply.statusCode >= 400) {
    done(null, payload);
    return;
  }
  reply.type('application/json; charset=utf-8');
  done(null, toJson(request, wrap(request, reply, null)));
}
