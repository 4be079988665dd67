import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { admin, callback, registerClient, type TestClient } from '../harness/authorize-scene.ts';
import { authorize, connectDevice } from '../harness/person-visits.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const proofs = {
  client_secret_basic: oauth.ClientSecretBasic,
  client_secret_post: oauth.ClientSecretPost,
};
const insecure = { [oauth.allowInsecureRequests]: true };

for (const [method, proofOf] of Object.entries(proofs)) {
  describe(`oauth4webapi with ${method}`, () => {
    let service: RunningService;
    let server: oauth.AuthorizationServer;
    let registered: TestClient;
    let client: oauth.Client;
    let proof: oauth.ClientAuth;
    before(async () => {
      service = await startService();
      registered = await registerClient(service);
      client = { client_id: registered.key };
      proof = proofOf(registered.secret);
      const issuer = new URL(service.url);
      server = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
      );
    });
    after(() => service?.dispose());

    const username = async (accessToken: string): Promise<unknown> => {
      const url = new URL('/profiles/v2/me', service.url);
      const reply = await oauth.protectedResourceRequest(
        accessToken,
        'GET',
        url,
        undefined,
        undefined,
        insecure,
      );
      return JSON.parse(await reply.text()).username;
    };
    const addressWith = (parameters: Readonly<Record<string, string>>) => {
      const address = new URL(server.authorization_endpoint ?? '');
      address.search = new URLSearchParams({
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: callback,
        ...parameters,
      }).toString();
      return address;
    };
    const exchange = async (back: URL, state: string, verifier: string | typeof oauth.nopkce) => {
      const checked = oauth.validateAuthResponse(server, client, back, state);
      const reply = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        proof,
        checked,
        callback,
        verifier,
        insecure,
      );
      return oauth.processAuthorizationCodeResponse(server, client, reply);
    };
    const withCode = async () => {
      const state = oauth.generateRandomState();
      return exchange(await authorize(service, addressWith({ state })), state, oauth.nopkce);
    };

    test('finds out by itself what the service offers', () => {
      assert.equal(server.issuer, service.url);
      assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
      assert.ok(server.token_endpoint_auth_methods_supported?.includes(method));
    });

    test('goes through the authorization code flow with PKCE, state and issuer', async () => {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const back = await authorize(
        service,
        addressWith({
          scope: 'PRODUCTION',
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }),
      );
      const tokens = await exchange(back, state, verifier);
      assert.equal(tokens.expires_in, 14_400);
      assert.ok(tokens.refresh_token);
      assert.equal(await username(tokens.access_token), 'admin');
    });

    test('goes through the authorization code flow without PKCE', async () => {
      assert.equal(await username((await withCode()).access_token), 'admin');
    });

    test('itself refuses an answer with another state, or without the issuer', async () => {
      const state = oauth.generateRandomState();
      const back = await authorize(service, addressWith({ state }));
      assert.throws(
        () => oauth.validateAuthResponse(server, client, back, oauth.generateRandomState()),
        /unexpected "state" response parameter value/,
      );
      back.searchParams.delete('iss');
      assert.throws(
        () => oauth.validateAuthResponse(server, client, back, state),
        /response parameter "iss" \(issuer\) missing/,
      );
    });

    test('reports the person’s no as access_denied, and a wrong scope as invalid_scope', async () => {
      const state = oauth.generateRandomState();
      const denied = await authorize(service, addressWith({ state, show_dialog: 'true' }), 'deny');
      const wrong = await authorize(service, addressWith({ state, scope: 'openid' }));
      for (const [back, code] of [
        [denied, 'access_denied'],
        [wrong, 'invalid_scope'],
      ] as const)
        assert.throws(
          () => oauth.validateAuthResponse(server, client, back, state),
          (error: unknown) => {
            assert.ok(error instanceof oauth.AuthorizationResponseError);
            assert.equal(error.error, code);
            return true;
          },
        );
    });

    test('reports a code that was used before as invalid_grant', async () => {
      const state = oauth.generateRandomState();
      const back = await authorize(service, addressWith({ state }));
      await exchange(back, state, oauth.nopkce);
      await assert.rejects(exchange(back, state, oauth.nopkce), refusal(400, 'invalid_grant'));
    });

    test('refreshes', async () => {
      const { refresh_token = '', access_token } = await withCode();
      const reply = await oauth.refreshTokenGrantRequest(
        server,
        client,
        proof,
        refresh_token,
        insecure,
      );
      const tokens = await oauth.processRefreshTokenResponse(server, client, reply);
      assert.notEqual(tokens.access_token, access_token);
      assert.ok(tokens.refresh_token);
      assert.equal(await username(tokens.access_token), 'admin');
    });

    test('gets tokens with the client’s own credentials', async () => {
      const ask = async (scope: string) => {
        const reply = await oauth.clientCredentialsGrantRequest(
          server,
          client,
          proof,
          { scope },
          insecure,
        );
        return oauth.processClientCredentialsResponse(server, client, reply);
      };
      assert.equal(await username((await ask('PRODUCTION')).access_token), 'admin');
      await assert.rejects(ask('SANDBOX'), refusal(400, 'invalid_scope'));
    });

    test('gets tokens with a password, as a grant that it has no function for', async () => {
      const ask = async (grant: string) => {
        const parameters = { ...admin, scope: 'PRODUCTION' };
        const reply = await oauth.genericTokenEndpointRequest(
          server,
          client,
          proof,
          grant,
          parameters,
          insecure,
        );
        return oauth.processGenericTokenEndpointResponse(server, client, reply);
      };
      const tokens = await ask('password');
      assert.ok(tokens.refresh_token);
      assert.equal(await username(tokens.access_token), 'admin');
      await assert.rejects(ask('urn:example:other'), refusal(400, 'unsupported_grant_type'));
    });

    test('connects a device, which waits until the person has decided', async () => {
      const started = await oauth.deviceAuthorizationRequest(
        server,
        client,
        proof,
        { scope: 'PRODUCTION' },
        insecure,
      );
      const device = await oauth.processDeviceAuthorizationResponse(server, client, started);
      const ask = async () => {
        const reply = await oauth.deviceCodeGrantRequest(
          server,
          client,
          proof,
          device.device_code,
          insecure,
        );
        return oauth.processDeviceCodeResponse(server, client, reply);
      };
      await assert.rejects(ask(), refusal(400, 'authorization_pending'));
      await connectDevice(service, device.verification_uri_complete ?? '');
      assert.equal(await username((await ask()).access_token), 'admin');
    });

    test('asks about a token, and revokes it', async () => {
      const { access_token } = await withCode();
      const ask = async () => {
        const reply = await oauth.introspectionRequest(
          server,
          client,
          proof,
          access_token,
          insecure,
        );
        return oauth.processIntrospectionResponse(server, client, reply);
      };
      assert.equal((await ask()).active, true);
      const reply = await oauth.revocationRequest(server, client, proof, access_token, insecure);
      await oauth.processRevocationResponse(reply);
      assert.deepEqual(await ask(), { active: false });
    });

    test('reports a wrong secret', async () => {
      const reply = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        proofOf('rct_cs_wrong'),
        {},
        insecure,
      );
      assert.equal(reply.status, 401);
      await assert.rejects(
        oauth.processClientCredentialsResponse(server, client, reply),
        (error: unknown) => {
          // With a challenge in the answer the library reports that instead of the body.
          assert.ok(error instanceof oauth.WWWAuthenticateChallengeError, String(error));
          assert.equal(error.cause[0]?.scheme, 'basic');
          return true;
        },
      );
    });
  });
}

const refusal = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof oauth.ResponseBodyError, String(error));
  assert.deepEqual([error.status, error.error], [status, code]);
  return true;
};
