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

const secretProperties = {
  secret: Type.String({ description: 'Shown here and never again.' }),
  consumerSecret: Type.String({ description: 'The same as secret.' }),
};

export const ClientRecord = Type.Object(clientProperties, { title: 'Client' });

export const ClientWithSecret = Type.Object(
  { ...clientProperties, ...secretProperties },
  { title: 'ClientWithSecret' },
);

export const ClientWithNewSecret = Type.Object(
  {
    ...clientProperties,
    ...secretProperties,
    previousSecretExpires: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Until when the secret before this one works; null when it has ended.',
    }),
  },
  { title: 'ClientWithNewSecret' },
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
  { title: 'Subscription' },
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
