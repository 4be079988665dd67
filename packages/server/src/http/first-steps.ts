import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What is done with every request before anything else. True: it has been answered. */
export type FirstStep = (request: FastifyRequest, reply: FastifyReply) => boolean;

/** Takes the steps in order. One hook for all of them: each costs as much as what these few do. */
export function takeFirstSteps(app: FastifyInstance, steps: readonly FirstStep[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    for (const step of steps) if (step(request, reply)) return;
    done();
  });
}
