import { readFileSync } from 'node:fs';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { logo } from '../oauth/pages/assets.ts';

/** The browsable API reference at /docs. Everything it needs is served from here, nothing from another host. */
export async function serveApiReference(app: FastifyInstance): Promise<void> {
  const style = readFileSync(new URL('./api-reference.css', import.meta.url), 'utf8');
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // The interface sets styles on its elements; scripts and everything else come from here alone.
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    logo: { type: logo.contentType, content: logo.bytes, href: '/docs', target: '_self' },
    theme: {
      title: 'reactord API',
      css: [{ filename: 'reactord.css', content: style }],
      favicon: [
        {
          filename: 'logo.svg',
          rel: 'icon',
          type: logo.contentType,
          sizes: 'any',
          content: logo.bytes,
        },
      ],
    },
    uiConfig: {
      docExpansion: 'list',
      deepLinking: true,
      persistAuthorization: false,
      // The badge would ask another host whether the description is valid.
      validatorUrl: null,
    },
  });
}
