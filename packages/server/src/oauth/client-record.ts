import { Type } from 'typebox';
import type { Api } from './apis.ts';
import type { Client } from './client.ts';
import { tiers } from './tiers.ts';

/** Clients and subscriptions as they are shown: under the names of the interface and those that existing clients read. */

const Link = Type.Object({ href: Type.String() }, { title: 'Link' });

const clientProperties = {
  name: Type.String(),
  description: Type.String(),
  callbackUrl: Type.String({
    description: 'The first callback address; empty when there is none.',
  }),
  callbackUrls: Type.Array(Type.String()),
  key: Type.String({ description: 'The client_id of OAuth.' }),
  consumerKey: Type.String({ description: 'The same as key.' }),
  tier: Type.String({ enum: [...tiers] }),
  flows: Type.Array(Type.String()),
  requirePkce: Type.Boolean(),
  createTime: Type.String({ format: 'date-time' }),
  lastUpdateTime: Type.String({ format: 'date-time' }),
  _links: Type.Object({ self: Link, subscriber: Link, subscriptions: Link }),
};

const address = 'https://reactors.example.org';
const example = {
  name: 'my_client',
  description: 'Collects the results',
  callbackUrl: 'https://app.example.org/callback',
  callbackUrls: ['https://app.example.org/callback'],
  key: 'hK3vXmPq8RnW2dTa',
  consumerKey: 'hK3vXmPq8RnW2dTa',
  tier: 'Unlimited',
  flows: ['authorization_code', 'client_credentials'],
  requirePkce: false,
  createTime: '2026-01-31T12:00:00.000Z',
  lastUpdateTime: '2026-01-31T12:00:00.000Z',
  _links: {
    self: { href: `${address}/clients/v2/my_client` },
    subscriber: { href: `${address}/profiles/v2/ada` },
    subscriptions: { href: `${address}/clients/v2/my_client/subscriptions` },
  },
};
const exampleWithSecret = { ...example, secret: 'rct_cs_…', consumerSecret: 'rct_cs_…' };

const secretProperties = {
  secret: Type.String({ description: 'Shown here and never again.' }),
  consumerSecret: Type.String({ description: 'The same as secret.' }),
};

export const ClientRecord = Type.Object(clientProperties, {
  title: 'Client',
  examples: [example],
});

export const ClientWithSecret = Type.Object(
  { ...clientProperties, ...secretProperties },
  { title: 'ClientWithSecret', examples: [exampleWithSecret] },
);

export const ClientWithNewSecret = Type.Object(
  {
    ...clientProperties,
    ...secretProperties,
    previousSecretExpires: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Until when the secret before this one works; null when it has ended.',
    }),
  },
  {
    title: 'ClientWithNewSecret',
    examples: [{ ...exampleWithSecret, previousSecretExpires: '2026-02-01T12:00:00.000Z' }],
  },
);

export const SubscriptionRecord = Type.Object(
  {
    name: Type.String(),
    apiName: Type.String(),
    context: Type.String({ description: "The API's path prefix." }),
    apiContext: Type.String(),
    provider: Type.String(),
    apiProvider: Type.String(),
    status: Type.String(),
    apiStatus: Type.String(),
    version: Type.String(),
    apiVersion: Type.String(),
    tier: Type.String({ description: "The client's tier." }),
    _links: Type.Object({ api: Link, client: Link, self: Link }),
  },
  {
    title: 'Subscription',
    examples: [
      {
        name: 'Actors',
        apiName: 'Actors',
        context: '/actors',
        apiContext: '/actors',
        provider: 'admin',
        apiProvider: 'admin',
        status: 'PUBLISHED',
        apiStatus: 'PUBLISHED',
        version: 'v2',
        apiVersion: 'v2',
        tier: 'Unlimited',
        _links: {
          api: { href: `${address}/actors/v2` },
          client: { href: `${address}/clients/v2/my_client` },
          self: { href: `${address}/clients/v2/my_client/subscriptions` },
        },
      },
    ],
  },
);

export function clientRecord(client: Client, baseUrl: string) {
  const self = addressOf(client, baseUrl);
  return {
    name: client.name,
    description: client.description,
    callbackUrl: client.callbackUrls[0] ?? '',
    callbackUrls: [...client.callbackUrls],
    key: client.key,
    consumerKey: client.key,
    tier: client.tier,
    flows: [...client.flows],
    requirePkce: client.requirePkce,
    createTime: new Date(client.createdAt).toISOString(),
    lastUpdateTime: new Date(client.updatedAt).toISOString(),
    _links: {
      self: { href: self },
      subscriber: {
        href: `${baseUrl}/profiles/v2/${encodeURIComponent(client.ownerUsername)}`,
      },
      subscriptions: { href: `${self}/subscriptions` },
    },
  };
}

export function clientRecordWithSecret(client: Client, secret: string, baseUrl: string) {
  return { ...clientRecord(client, baseUrl), secret, consumerSecret: secret };
}

export function subscriptionRecord(client: Client, api: Api, baseUrl: string) {
  const self = addressOf(client, baseUrl);
  return {
    name: api.name,
    apiName: api.name,
    context: api.context,
    apiContext: api.context,
    provider: api.provider,
    apiProvider: api.provider,
    status: api.status,
    apiStatus: api.status,
    version: api.version,
    apiVersion: api.version,
    tier: client.tier,
    _links: {
      api: { href: `${baseUrl}${api.context}/${api.version}` },
      client: { href: self },
      self: { href: `${self}/subscriptions` },
    },
  };
}

const addressOf = (client: Client, baseUrl: string): string =>
  `${baseUrl}/clients/v2/${encodeURIComponent(client.name)}`;
