import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { serverMetadata } from './metadata.ts';

interface MetadataParts {
  readonly config: Pick<Config, 'implicit_flow' | 'password_flow' | 'require_pkce'>;
  readonly baseUrl: () => string;
}

const texts = () => Type.Array(Type.String());

const ServerMetadata = Type.Object(
  {
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    revocation_endpoint: Type.String(),
    introspection_endpoint: Type.String(),
    device_authorization_endpoint: Type.String(),
    scopes_supported: texts(),
    response_types_supported: texts(),
    response_modes_supported: texts(),
    grant_types_supported: texts(),
    token_endpoint_auth_methods_supported: texts(),
    revocation_endpoint_auth_methods_supported: texts(),
    introspection_endpoint_auth_methods_supported: texts(),
    code_challenge_methods_supported: texts(),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    service_documentation: Type.String(),
  },
  {
    title: 'ServerMetadata',
    examples: [
      {
        issuer: 'https://reactors.example.org',
        authorization_endpoint: 'https://reactors.example.org/authorize',
        token_endpoint: 'https://reactors.example.org/token',
        scopes_supported: ['PRODUCTION'],
        response_types_supported: ['code', 'token'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        code_challenge_methods_supported: ['S256'],
      },
    ],
  },
);

export function metadataRoutes({ config, baseUrl }: MetadataParts): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/.well-known/oauth-authorization-server',
      {
        config: { answer: 'raw' },
        schema: {
          tags: ['Authorization'],
          summary: 'What this authorization server offers',
          description:
            'RFC 8414: the endpoints and what they take, for clients that set themselves up.',
          response: { 200: ServerMetadata },
        },
      },
      async () => serverMetadata(config, baseUrl()),
    );
  };
}
