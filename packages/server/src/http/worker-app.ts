import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import type { Engine } from '../engines/engine.ts';
import type { Store } from '../store/store.ts';
import { wrapAnswers } from './answers.ts';
import { bareApp } from './bare-app.ts';
import { healthRoutes } from './health-routes.ts';
import { type Metrics, measureRequests } from './metrics.ts';

interface WorkerAppParts {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly store: Store;
  readonly engine: Engine;
  readonly metrics: Metrics;
}

/** What a worker serves: whether it is well, and its numbers. Everything else is 404. */
export async function buildWorkerApp({ config, log, store, engine, metrics }: WorkerAppParts) {
  // There are no pages here.
  const app = bareApp({ config, log, sendErrorPage: (reply) => reply });
  wrapAnswers(app);
  measureRequests(app, metrics);
  await app.register(healthRoutes({ store, engine }));
  return app;
}
