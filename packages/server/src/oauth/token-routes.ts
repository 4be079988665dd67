import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import type { Client } from './client.ts';
import { DeviceStarts } from './device-starts.ts';
import { type Asker, introspect } from './introspect.ts';
import type { OAuth } from './oauth.ts';
import { revokeToken } from './revoke.ts';
import { authenticateClient } from './token-client.ts';
import { grantToken } from './token-endpoint.ts';
import { TokenRefusal, unknownClient } from './token-errors.ts';
import { needed, readTokenForm, type TokenForm } from './token-form.ts';
import {
  AboutToken,
  DeviceReply,
  DeviceRequest,
  IntrospectionReply,
  TokenFailure,
  TokenReply,
  TokenRequest,
  tokenReply,
} from './token-reply.ts';
import { onlyScope, readScope } from './token-scope.ts';

interface TokenRoutesParts {
  readonly oauth: OAuth;
  readonly baseUrl: () => string;
}

/** What the endpoints have in common: a small form, read by our own strict rules, and the client's proof. */
const endpoint = {
  bodyLimit: 16 * 1024,
  config: { answer: 'raw', oauth: true },
  // The schemas describe the forms; token-form.ts reads them.
  validatorCompiler: () => () => true,
} as const;

const described = (schema: FastifySchema): FastifySchema => ({
  tags: ['Authorization'],
  consumes: ['application/x-www-form-urlencoded'],
  security: [{ clientSecret: [] }],
  ...schema,
});

const failures = { 400: TokenFailure, 401: TokenFailure };

/** The endpoints at which clients, not people, ask: each authenticates the client before it looks at anything else. */
export function tokenRoutes({ oauth, baseUrl }: TokenRoutesParts): FastifyPluginAsyncTypebox {
  const deviceStarts = new DeviceStarts();
  return async (app) => {
    app.post(
      '/token',
      {
        ...endpoint,
        schema: described({
          summary: 'Get an access token',
          description:
            'By authorization code, password, client credentials, refresh token or device code. The client authenticates with HTTP Basic, or with client_id and client_secret in the body; the command line, which has no secret, names its client_id alone.',
          body: TokenRequest,
          response: { 200: TokenReply, ...failures },
        }),
      },
      async (request) => {
        const { client, form } = await readRequest(request);
        needed(form, 'grant_type');
        return tokenReply(await grantToken(oauth.grants, client, form, request.ip));
      },
    );

    app.post(
      '/revoke',
      {
        ...endpoint,
        schema: described({
          summary: 'End a token',
          description:
            'RFC 7009. An access token ends alone; a refresh token with every token that came of it. Answers 200 for a token that is unknown, over or of another client, too.',
          body: AboutToken,
          response: { 200: Type.Object({}, { title: 'Revoked', examples: [{}] }), ...failures },
        }),
      },
      async (request) => {
        const { client, form } = await readRequest(request);
        request.actor = { username: client.ownerUsername, client: client.name };
        const ended = await revokeToken(oauth, client, needed(form, 'token'));
        // A public client is everybody's: who ends the token is who had it.
        const user = client.isPublic && ended && (await oauth.users.byId(ended.userId));
        if (user) request.actor = { username: user.username, client: client.name };
        return {};
      },
    );

    app.post(
      '/introspect',
      {
        ...endpoint,
        schema: described({
          summary: 'Ask about a token',
          description:
            'RFC 7662. A client hears about its own tokens; an admin\'s access token (Bearer) hears about all. Every other token is {"active": false}.',
          security: [{ clientSecret: [] }, { bearer: [] }],
          body: AboutToken,
          response: { 200: IntrospectionReply, ...failures },
        }),
      },
      async (request) => {
        const form = readTokenForm(request.body);
        const asker = (await adminOf(request, form)) ?? (await clientOf(request, form));
        // Anybody could ask in the name of a client that proves nothing.
        if (asker !== 'admin' && asker.isPublic) throw unknownClient();
        return introspect(oauth, asker, needed(form, 'token'), baseUrl());
      },
    );

    app.post(
      '/device_authorization',
      {
        ...endpoint,
        schema: described({
          summary: 'Begin the flow for devices without a browser',
          description:
            'RFC 8628. Show the user code and the address to the person, and ask at /token with the device code.',
          body: DeviceRequest,
          response: { 200: DeviceReply, ...failures },
        }),
      },
      async (request) => {
        const { client, form } = await readRequest(request);
        if (!client.flows.has('device'))
          throw new TokenRefusal('unauthorized_client', 'The client may not use the device flow.');
        const scope = readScope((form.get('scope') ?? onlyScope).trim().split(/ +/));
        if (scope === undefined)
          throw new TokenRefusal('invalid_scope', 'The only scope is PRODUCTION.');
        if (client.isPublic) deviceStarts.admit(request.ip);
        const started = await oauth.deviceCodes.start(client, scope);
        const address = `${baseUrl()}/device`;
        return {
          device_code: started.deviceCode,
          user_code: started.userCode,
          verification_uri: address,
          verification_uri_complete: `${address}?user_code=${started.userCode}`,
          expires_in: started.expiresIn,
          interval: started.interval,
        };
      },
    );
  };

  async function readRequest(
    request: FastifyRequest,
  ): Promise<{ readonly client: Client; readonly form: TokenForm }> {
    const form = readTokenForm(request.body);
    return { client: await clientOf(request, form), form };
  }

  function clientOf(request: FastifyRequest, form: TokenForm): Promise<Client> {
    return authenticateClient(oauth.proofs, request.headers.authorization, form);
  }

  /** An admin who asks with an access token; undefined when the request does not claim that. */
  async function adminOf(request: FastifyRequest, form: TokenForm): Promise<Asker | undefined> {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined || form.has('client_secret')) return undefined;
    const found = await oauth.access.byToken(token);
    if (found === undefined || found.flow === 'execution' || !found.caller.roles.has('admin'))
      throw unknownClient();
    return 'admin';
  }
}
