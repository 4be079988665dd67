import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import { type Client, clientFlows, clientNamePattern } from './client.ts';
import { ChangedClient, NewClient, readClientFields } from './client-fields.ts';
import {
  ClientRecord,
  ClientWithNewSecret,
  ClientWithSecret,
  clientRecord,
  clientRecordWithSecret,
} from './client-record.ts';
import { access, expectBody, forbidCaching, NamedClient, ownClient } from './client-route-steps.ts';
import type { ClientFields, Clients } from './clients.ts';
import { subscriptionRoutes } from './subscription-routes.ts';

export interface ClientRoutesParts {
  readonly clients: Clients;
  /** Whether callback addresses may be http on other machines. */
  readonly allowHttp: boolean;
  readonly baseUrl: () => string;
}

const unlessSaid: ClientFields = {
  description: '',
  callbackUrls: [],
  tier: 'Unlimited',
  flows: new Set(clientFlows),
  requirePkce: false,
};

const dayInSeconds = 86_400;

const note = (request: FastifyRequest, event: string, { id, ownerId }: Client): void =>
  request.log.info({ event, client: id, user: ownerId }, event.replaceAll('_', ' '));

/** The clients area: a user's own client applications. */
export function clientRoutes(parts: ClientRoutesParts): FastifyPluginAsyncTypebox {
  const { clients, allowHttp, baseUrl } = parts;
  return async (app) => {
    app.addHook('onRequest', forbidCaching);

    app.post(
      '/clients/v2',
      {
        config: { access, answer: 'bare', message: 'Client created successfully.' },
        preValidation: expectBody,
        schema: {
          tags: ['Clients'],
          summary: 'Register a client application',
          description:
            'Gives it a key and a secret, and subscribes it to all APIs. The secret is shown in this reply only.',
          body: NewClient,
          response: { 201: ClientWithSecret },
        },
      },
      async (request, reply) => {
        const { userId, username } = callerOf(request);
        const { clientName, ...given } = request.body;
        const fields = { ...unlessSaid, ...readClientFields(given, allowHttp) };
        const { client, secret } = await clients.create(
          { id: userId, username },
          clientName,
          fields,
        );
        note(request, 'client_created', client);
        const record = clientRecordWithSecret(client, secret, baseUrl());
        return reply.code(201).header('location', record._links.self.href).send(record);
      },
    );

    app.get(
      '/clients/v2',
      {
        config: { access, answer: 'bare', message: 'Clients retrieved successfully.' },
        schema: {
          tags: ['Clients'],
          summary: 'List your client applications',
          description: 'By name, without their secrets.',
          querystring: Type.Object({
            ...pageFields,
            after: Type.Optional(
              Type.String({
                pattern: clientNamePattern.source,
                allows: 'the name of a client',
                description: 'Begin after this name: faster than a large offset.',
              }),
            ),
          }),
          response: { 200: Type.Array(ClientRecord) },
        },
      },
      async (request) => {
        const { after = '', ...page } = request.query;
        const { userId } = callerOf(request);
        const own = await clients.ofOwner(userId, { ...readPage(page), after });
        return own.map((client) => clientRecord(client, baseUrl()));
      },
    );

    app.get(
      '/clients/v2/:clientName',
      {
        config: { access, answer: 'bare', message: 'Client retrieved successfully.' },
        schema: {
          tags: ['Clients'],
          summary: 'Show a client application',
          description: 'Without its secret, which nobody knows any more but its owner.',
          params: NamedClient,
          response: { 200: ClientRecord },
        },
      },
      async (request) => {
        const client = await ownClient(clients, callerOf(request), request.params.clientName);
        return clientRecord(client, baseUrl());
      },
    );

    app.put(
      '/clients/v2/:clientName',
      {
        config: { access, answer: 'bare', message: 'Client updated successfully.' },
        preValidation: expectBody,
        schema: {
          tags: ['Clients'],
          summary: 'Change a client application',
          description:
            'Fields that are not sent stay as they are; its name, key and secret do not change. ' +
            'When the callback addresses change, people are asked for their consent again.',
          params: NamedClient,
          body: ChangedClient,
          response: { 200: ClientRecord },
        },
      },
      async (request) => {
        const client = await ownClient(clients, callerOf(request), request.params.clientName);
        const changed = await clients.update(client, readClientFields(request.body, allowHttp));
        note(request, 'client_changed', client);
        return clientRecord(changed, baseUrl());
      },
    );

    app.delete(
      '/clients/v2/:clientName',
      {
        config: { access, answer: 'bare', message: 'Client removed successfully.' },
        schema: {
          tags: ['Clients'],
          summary: 'Delete a client application',
          description: 'Ends every token of it at once, and what people allowed it.',
          params: NamedClient,
          response: { 200: Type.Null() },
        },
      },
      async (request) => {
        const client = await ownClient(clients, callerOf(request), request.params.clientName);
        await clients.remove(client);
        note(request, 'client_removed', client);
        return null;
      },
    );

    app.post(
      '/clients/v2/:clientName/secret',
      {
        config: { access, answer: 'bare', message: 'Client secret replaced successfully.' },
        preValidation: expectBody,
        schema: {
          tags: ['Clients'],
          summary: 'Replace the secret of a client application',
          description:
            'The new secret is shown in this reply only. The one before works for the overlap, so that what runs can ' +
            'be changed over; with overlap=0 it ends at once, as it should when it has become known to others. ' +
            'Tokens stay valid.',
          params: NamedClient,
          body: Type.Object(
            {
              overlap: Type.Optional(
                Type.Integer({
                  minimum: 0,
                  maximum: 30 * dayInSeconds,
                  default: dayInSeconds,
                  description: 'For how many seconds the secret before still works.',
                  allows: `a whole number of seconds from 0 to ${30 * dayInSeconds}`,
                }),
              ),
            },
            { title: 'SecretReplacement', additionalProperties: false, examples: [{ overlap: 0 }] },
          ),
          response: { 200: ClientWithNewSecret },
        },
      },
      async (request) => {
        const client = await ownClient(clients, callerOf(request), request.params.clientName);
        const overlap = request.body.overlap ?? dayInSeconds;
        const replaced = await clients.rotateSecret(client, overlap);
        note(request, 'client_secret_replaced', client);
        return {
          ...clientRecordWithSecret(replaced.client, replaced.secret, baseUrl()),
          previousSecretExpires:
            replaced.previousUntil === undefined
              ? null
              : new Date(replaced.previousUntil).toISOString(),
        };
      },
    );

    await app.register(subscriptionRoutes(parts));
  };
}
