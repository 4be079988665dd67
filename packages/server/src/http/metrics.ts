import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { Type } from 'typebox';
import { version } from '../version.ts';
import { RequestTimes } from './request-times.ts';

/** What Prometheus reads. One registry per service, so that two in one process do not share numbers. */
export interface Metrics {
  readonly registry: Registry;
  observeCommit(units: number, seconds: number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'reactord_build_info',
    help: 'Always 1; the version is in the label.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  const commits = new Histogram({
    name: 'reactord_store_commit_seconds',
    help: 'How long one durable commit of the store took.',
    buckets: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
    registers: [registry],
  });
  const units = new Counter({
    name: 'reactord_store_units_total',
    help: 'Writes made durable. Divided by the commits it tells how many share one.',
    registers: [registry],
  });
  return {
    registry,
    observeCommit: (count, seconds) => {
      commits.observe(seconds);
      units.inc(count);
    },
  };
}

/** Counts and times every request by route, and serves the numbers at /metrics. */
export function measureRequests(app: FastifyInstance, { registry }: Metrics): void {
  const requests = new RequestTimes();
  registry.registerMetric(requests);
  app.addHook('onResponse', (request, reply, done) => {
    // The pattern, never the address itself: addresses are without number.
    const route = request.route.url ?? '(unknown)';
    requests.note(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['Operations'],
        summary: 'Metrics for Prometheus',
        description: 'Process, HTTP and store metrics in the Prometheus text format.',
        produces: ['text/plain'],
        response: {
          200: Type.String({ examples: ['reactord_build_info{version="0.1.0"} 1\n'] }),
        },
      },
    },
    async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()),
  );
}
