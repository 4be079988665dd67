import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  AuthorizationCode,
  ClientCredentials,
  type ModuleOptions,
  ResourceOwnerPassword,
} from 'simple-oauth2';
import { admin, callback, registerClient, type TestClient } from '../harness/authorize-scene.ts';
import { authorize } from '../harness/person-visits.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const kinds: Record<string, ModuleOptions['options']> = {
  'HTTP Basic, form-encoded as the RFC wants': {},
  'HTTP Basic, raw': { credentialsEncodingMode: 'loose' },
  'credentials in the body': { authorizationMethod: 'body' },
};

for (const [kind, options] of Object.entries(kinds)) {
  describe(`simple-oauth2 with ${kind}`, () => {
    let service: RunningService;
    let client: TestClient;
    let setting: ModuleOptions;
    before(async () => {
      service = await startService();
      client = await registerClient(service);
      setting = settingFor(service, client, options);
    });
    after(() => service?.dispose());

    const username = async (accessToken: unknown): Promise<unknown> => {
      const reply = await fetch(`${service.url}/profiles/v2/me`, {
        headers: { authorization: `Bearer ${accessToken}` },
      });
      assert.equal(reply.status, 200, await reply.clone().text());
      return JSON.parse(await reply.text()).username;
    };
    const withCode = async () => {
      const flow = new AuthorizationCode(withPages(setting));
      const state = 'a state with & and = and ü';
      const address = flow.authorizeURL({ redirect_uri: callback, scope: 'PRODUCTION', state });
      const back = await authorize(service, address);
      // The library leaves this check to the application.
      assert.equal(back.searchParams.get('state'), state);
      const code = back.searchParams.get('code') ?? '';
      return { code, token: await flow.getToken({ code, redirect_uri: callback }) };
    };

    test('goes through the authorization code flow, and refreshes', async () => {
      const { token } = await withCode();
      assert.equal(token.token['expires_in'], 14_400);
      assert.equal(token.expired(), false);
      // It knows when to refresh.
      assert.equal(token.expired(14_401), true);
      assert.equal(await username(token.token['access_token']), 'admin');
      for (const parameters of [undefined, { scope: 'PRODUCTION' }]) {
        const next = await token.refresh(parameters);
        assert.notEqual(next.token['access_token'], token.token['access_token']);
        assert.equal(await username(next.token['access_token']), 'admin');
        // The library loses the refresh token where the reply has none.
        assert.ok(next.token['refresh_token']);
      }
    });

    test('goes through the authorization code flow with PKCE, by parameters that it passes on', async () => {
      const flow = new AuthorizationCode(withPages(setting));
      const verifier = randomBytes(32).toString('base64url');
      const challenge = {
        redirect_uri: callback,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      const back = await authorize(service, flow.authorizeURL(challenge));
      const exchange = {
        code: back.searchParams.get('code') ?? '',
        redirect_uri: callback,
        code_verifier: verifier,
      };
      const { token } = await flow.getToken(exchange);
      assert.equal(await username(token['access_token']), 'admin');
    });

    test('gets tokens with a password', async () => {
      const flow = new ResourceOwnerPassword(setting);
      const token = await flow.getToken({ ...admin, scope: ['PRODUCTION'] });
      assert.equal(await username(token.token['access_token']), 'admin');
      const next = await token.refresh({ scope: 'PRODUCTION' });
      assert.equal(await username(next.token['access_token']), 'admin');
      const wrong = { username: 'nobody', password: 'wrong one', scope: 'PRODUCTION' };
      await assert.rejects(flow.getToken(wrong), refusal(400, 'invalid_grant'));
    });

    test('gets tokens with the client’s own credentials', async () => {
      const { token } = await new ClientCredentials(setting).getToken({});
      assert.equal(token['refresh_token'], undefined);
      assert.equal(await username(token['access_token']), 'admin');
    });

    test('revokes both tokens', async () => {
      const { token } = await withCode();
      // It wants JSON in the reply, which RFC 7009 leaves open.
      await token.revokeAll();
      await assert.rejects(token.refresh(), refusal(400, 'invalid_grant'));
      const reply = await fetch(`${service.url}/profiles/v2/me`, {
        headers: { authorization: `Bearer ${token.token['access_token']}` },
      });
      assert.equal(reply.status, 401);
    });

    test('reports a used code and a wrong secret', async () => {
      const { code } = await withCode();
      await assert.rejects(
        new AuthorizationCode(withPages(setting)).getToken({ code, redirect_uri: callback }),
        refusal(400, 'invalid_grant'),
      );
      const wrong = settingFor(service, { ...client, secret: 'rct_cs_wrong' }, options);
      await assert.rejects(
        new ClientCredentials(wrong).getToken({}),
        refusal(401, 'invalid_client'),
      );
    });

    test('cannot send JSON to the token endpoint, where RFC 6749 knows forms only', async () => {
      const flow = new ClientCredentials({
        ...setting,
        options: { ...options, bodyFormat: 'json' },
      });
      await assert.rejects(flow.getToken({}), refusal(400, 'invalid_request'));
    });
  });
}

function settingFor(
  service: RunningService,
  { key, secret }: TestClient,
  options: ModuleOptions['options'],
): ModuleOptions {
  return {
    client: { id: key, secret },
    auth: {
      tokenHost: service.url,
      tokenPath: '/token',
      revokePath: '/revoke',
    },
    options,
  };
}

/** Only this flow may name the authorization endpoint. */
const withPages = (setting: ModuleOptions): ModuleOptions => ({
  ...setting,
  auth: { ...setting.auth, authorizePath: '/authorize' },
});

/** What the library's HTTP client throws: the status, and the reply's JSON as payload. */
const refusal = (status: number, code: string) => (error: object) => {
  assert.ok('output' in error && 'data' in error, String(error));
  const { output, data } = error;
  assert.partialDeepStrictEqual(output, { statusCode: status });
  assert.partialDeepStrictEqual(data, { payload: { error: code } });
  return true;
};
