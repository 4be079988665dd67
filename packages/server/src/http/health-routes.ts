import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { FailureWith, failure } from '../contract/envelope.ts';
import type { Engine } from '../engines/engine.ts';
import type { Store } from '../store/store.ts';

interface Checked {
  readonly store: Pick<Store, 'ping' | 'dialect'>;
  readonly engine: Engine;
}

const PartHealth = Type.Object(
  {
    ok: Type.Boolean(),
    message: Type.String({ description: 'What answers, or what is missing and what to do.' }),
  },
  { title: 'PartHealth' },
);

/** Is the process up, and can it do its work: for people, probes and load balancers. */
export function healthRoutes({ store, engine }: Checked): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/health',
      {
        config: { answer: 'enveloped', message: 'The service is up.' },
        schema: {
          tags: ['Operations'],
          summary: 'Is the process up',
          description: 'Answers as long as the process serves requests, whatever it depends on.',
          response: {
            200: Type.Object(
              { uptime: Type.Integer({ description: 'seconds' }) },
              { title: 'Health', examples: [{ uptime: 86_400 }] },
            ),
          },
        },
      },
      async () => ({ uptime: Math.floor(process.uptime()) }),
    );

    const Readiness = Type.Object(
      { store: PartHealth, engine: PartHealth },
      {
        title: 'Readiness',
        examples: [
          {
            store: { ok: true, message: 'sqlite answers' },
            engine: { ok: true, message: 'Docker 28.0.1 at unix:///var/run/docker.sock' },
          },
        ],
      },
    );
    app.get(
      '/ready',
      {
        config: { answer: 'enveloped', message: 'The service is ready.' },
        schema: {
          tags: ['Operations'],
          summary: 'Can the service do its work',
          description:
            'Checks the store and the container engine, each by name. 503 when one of them is away.',
          response: { 200: Readiness, 503: FailureWith(Readiness) },
        },
      },
      async (_request, reply) => {
        const [storeHealth, engineHealth] = await Promise.all([
          healthOf(async () => {
            await store.ping();
            return `${store.dialect} answers`;
          }),
          healthOf(() => engine.ping()),
        ]);
        const parts = { store: storeHealth, engine: engineHealth };
        const missing = Object.values(parts).filter((part) => !part.ok);
        if (missing.length === 0) return parts;
        const words = missing.map((part) => part.message).join(' ');
        return reply.code(503).send(failure(`Not ready. ${words}`, parts));
      },
    );
  };
}

async function healthOf(check: () => Promise<string>): Promise<{ ok: boolean; message: string }> {
  try {
    return { ok: true, message: await check() };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
