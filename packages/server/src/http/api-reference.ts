import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';

/** The browsable API reference at /docs. Everything it needs is served from here, nothing from another host. */
export async function serveApiReference(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    theme: { title: 'reactord API' },
    uiConfig: {
      docExpansion: 'list',
      deepLinking: true,
      tryItOutEnabled: false,
      // The badge would ask another host whether the description is valid.
      validatorUrl: null,
    },
  });
}
