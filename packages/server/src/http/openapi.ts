import swagger from '@fastify/swagger';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { Failure } from '../contract/envelope.ts';
import type { AnswerShape } from '../contract/route-config.ts';
import { version } from '../version.ts';
import { asRecord, describePath, exampleOf } from './api-examples.ts';
import { nameSchemas } from './schema-names.ts';
import { securityOf, securitySchemes } from './security-schemes.ts';

/** The OpenAPI 3.1 description, made from the schemas that check the requests. */
export async function describeApi(app: FastifyInstance, baseUrl: () => string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'reactord',
        version,
        description:
          'OAuth 2.0 tokens, client applications, and container images that run for each message.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [
        {
          name: 'Authorization',
          description:
            'The pages that people meet on their way to a token, and the tokens themselves',
        },
        { name: 'Clients', description: 'Client applications, their secrets and subscriptions' },
        { name: 'Profiles', description: 'Users and what is known of them' },
        { name: 'Reactors', description: 'Container images that run for each message' },
        { name: 'Configs', description: 'Named values and secrets for containers' },
        { name: 'Sharing', description: 'Who else may use a reactor, and under which name' },
        { name: 'Executions', description: 'Messages, and the runs that they lead to' },
        { name: 'Events', description: 'What happens to reactors and executions, told to others' },
        { name: 'Search', description: 'Finding reactors, executions, workers and logs' },
        { name: 'Operations', description: 'Health, metrics and this description' },
      ],
      components: { securitySchemes },
    },
    transform: ({ schema, url, route }) => ({
      schema: { ...securityOf(route), ...describeRoute(schema ?? {}, route) },
      url,
    }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject;
      return nameSchemas({ ...document.openapiObject, servers: [{ url: baseUrl() }] });
    },
  });
  app.get(
    '/openapi.json',
    {
      schema: {
        tags: ['Operations'],
        summary: 'This description, as OpenAPI 3.1',
        response: {
          200: Type.Unknown({
            description: 'The description.',
            examples: [{ openapi: '3.1.0', info: { title: 'reactord', version }, paths: {} }],
          }),
        },
      },
    },
    async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  );
}

type RouteSchema = NonNullable<RouteOptions['schema']>;

const answerFlags = {
  naked: Type.Optional(Type.Boolean({ description: 'true: the bare result; false: the envelope' })),
  pretty: Type.Optional(Type.Boolean({ description: 'indent the JSON by two spaces' })),
};

/** Routes describe their result; what the HTTP layer adds around it is added here once, for all of them. */
function describeRoute(schema: RouteSchema, route: RouteOptions): RouteSchema {
  const shape = route.config?.answer ?? 'raw';
  if (schema.hide === true) return schema;
  const params = schema.params === undefined ? {} : { params: describePath(schema.params) };
  if (shape === 'raw') return { ...schema, ...params };
  const response: Record<string, unknown> = {
    default: describe('An error, in the envelope', Failure),
  };
  for (const [status, result] of Object.entries({ ...asRecord(schema.response) })) {
    const failed = Number(status) >= 400;
    response[status] = failed
      ? describe('An error, in the envelope', result)
      : describe(
          'Success',
          wrapSchema(result, shape),
          wrapExample(exampleOf(result), shape, route.config?.message),
        );
  }
  const properties = { ...asRecord(asRecord(schema.querystring)['properties']), ...answerFlags };
  const { bodyExample } = route.config ?? {};
  const body = bodyExample === undefined ? {} : { body: Type.Unknown({ examples: [bodyExample] }) };
  return {
    ...schema,
    ...params,
    ...body,
    querystring: { type: 'object', ...asRecord(schema.querystring), properties },
    response,
  };
}

function describe(description: string, schema: unknown, example?: unknown): object {
  const shown = example === undefined ? {} : { example };
  return { description, content: { 'application/json': { schema, ...shown } } };
}

function wrapExample(result: unknown, shape: AnswerShape, message = ''): unknown {
  if (shape === 'bare' || result === undefined) return result;
  return { status: 'success', message, result, version };
}

function wrapSchema(result: unknown, shape: AnswerShape): unknown {
  if (shape === 'bare') return result;
  return Type.Object({
    status: Type.Literal('success'),
    message: Type.String(),
    result: Type.Unsafe(asSchema(result)),
    version: Type.String(),
  });
}

function asSchema(value: unknown): TSchema {
  return { ...asRecord(value) };
}
