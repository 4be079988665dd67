import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { fail } from '../errors.ts';
import { type Catalogue, findApi } from './apis.ts';
import type { Client } from './client.ts';
import { checkTier } from './client-fields.ts';
import { SubscriptionRecord, subscriptionRecord } from './client-record.ts';
import { access, expectBody, NamedClient, ownClient } from './client-route-steps.ts';
import type { Clients } from './clients.ts';

interface SubscriptionRoutesParts {
  readonly clients: Clients;
  readonly baseUrl: () => string;
}

const ApiNames = Type.Union(
  [Type.String({ maxLength: 64 }), Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 })],
  {
    allows: 'the name of an API, several names, or *',
    description: 'The name of an API in any case, several of them, or * for all.',
  },
);

const naming = { name: Type.Optional(ApiNames), apiName: Type.Optional(ApiNames) };

const NewSubscription = Type.Object(
  {
    ...naming,
    apiVersion: Type.Optional(
      Type.String({ description: 'When given: the version it must have.' }),
    ),
    apiProvider: Type.Optional(
      Type.String({ description: 'When given: the provider it must have.' }),
    ),
    tier: Type.Optional(
      Type.String({ description: "When given: the client's tier. A subscription has no other." }),
    ),
  },
  { title: 'NewSubscription', additionalProperties: false, examples: [{ name: '*' }] },
);

/** Which APIs a client may call. */
export function subscriptionRoutes(parts: SubscriptionRoutesParts): FastifyPluginAsyncTypebox {
  const { clients, baseUrl } = parts;

  const listFor = async (client: Client) => {
    const subscribed = await clients.subscriptionsOf(client.id);
    return clients.apis
      .filter((api) => subscribed.has(api.name))
      .map((api) => subscriptionRecord(client, api, baseUrl()));
  };

  return async (app) => {
    app.get(
      '/clients/v2/:clientName/subscriptions',
      {
        config: { access, answer: 'bare', message: 'Subscriptions retrieved successfully.' },
        schema: {
          tags: ['Clients'],
          summary: 'List the subscriptions of a client application',
          description: "The APIs that the client's tokens work on.",
          params: NamedClient,
          response: { 200: Type.Array(SubscriptionRecord) },
        },
      },
      async (request) =>
        listFor(await ownClient(clients, callerOf(request), request.params.clientName)),
    );

    app.post(
      '/clients/v2/:clientName/subscriptions',
      {
        config: { access, answer: 'bare' },
        preValidation: expectBody,
        schema: {
          tags: ['Clients'],
          summary: 'Subscribe a client application to an API, or to all',
          description:
            'Answers with all its subscriptions. To be subscribed already is no error. APIs that the service gains ' +
            'later are not subscribed to by themselves.',
          params: NamedClient,
          body: NewSubscription,
          response: { 200: Type.Array(SubscriptionRecord) },
        },
      },
      async (request, reply) => {
        const client = await ownClient(clients, callerOf(request), request.params.clientName);
        const wanted = namedApis(clients.apis, request.body);
        checkDetails(wanted, client, request.body);
        await clients.subscribe(client, wanted);
        reply.sentence = `Client ${client.name} has been subscribed to ${namesOf(wanted)}.`;
        return listFor(client);
      },
    );

    app.delete(
      '/clients/v2/:clientName/subscriptions',
      {
        config: { access, answer: 'bare' },
        preValidation: takeFieldsFromBody,
        schema: {
          tags: ['Clients'],
          summary: 'End the subscription of a client application to an API, or to all',
          description:
            'The name may stand in the query or in the body. Answers with the subscriptions that are left. Tokens of ' +
            'the client stop working on that API at once.',
          params: NamedClient,
          querystring: Type.Object(naming),
          response: { 200: Type.Array(SubscriptionRecord) },
        },
      },
      async (request, reply) => {
        const client = await ownClient(clients, callerOf(request), request.params.clientName);
        const ended = namedApis(clients.apis, request.query);
        await clients.unsubscribe(client, ended);
        reply.sentence = `Client ${client.name} has been unsubscribed from ${namesOf(ended)}.`;
        return listFor(client);
      },
    );
  };
}

/** DELETE has its fields in the query or in the body; from here on they are in the query. */
async function takeFieldsFromBody(request: FastifyRequest): Promise<void> {
  const { query, body } = request;
  if (typeof query === 'object' && typeof body === 'object') request.query = { ...query, ...body };
}

function namedApis(apis: Catalogue, given: Static<typeof NewSubscription>): Catalogue {
  const names = [given.name ?? [], given.apiName ?? []].flat().filter((name) => name !== '');
  if (names.length === 0) throw fail('invalid_field', { field: 'name', problem: 'is required' });
  const found = names.flatMap((name) => {
    if (name === '*') return apis;
    const api = findApi(apis, name);
    if (api === undefined) throw unknownApi(apis, name);
    return [api];
  });
  return [...new Set(found)];
}

/** Existing clients say more about an API than its name: it must be true, or they would believe what is not so. */
function checkDetails(
  wanted: Catalogue,
  client: Client,
  given: Static<typeof NewSubscription>,
): void {
  const { apiVersion, apiProvider, tier } = given;
  for (const api of wanted) {
    if (apiVersion !== undefined && apiVersion !== api.version)
      throw fail('invalid_field', {
        field: 'apiVersion',
        problem: `is ${api.version} for ${api.name}`,
      });
    if (apiProvider !== undefined && apiProvider !== api.provider)
      throw fail('invalid_field', {
        field: 'apiProvider',
        problem: `is ${api.provider} for ${api.name}`,
      });
  }
  if (tier !== undefined && tier !== '' && checkTier(tier) !== client.tier)
    throw fail('invalid_field', {
      field: 'tier',
      problem: `is the client's, ${client.tier}; change it with PUT on the client`,
    });
}

const unknownApi = (apis: Catalogue, name: string) =>
  fail('unknown_api', { name, known: namesOf(apis) });

const namesOf = (apis: Catalogue): string => apis.map((api) => api.name).join(', ');
