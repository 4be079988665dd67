import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as openid from 'openid-client';
import { admin, callback, registerClient, type TestClient } from '../harness/authorize-scene.ts';
import { authorize, connectDevice } from '../harness/person-visits.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const proofs = {
  client_secret_basic: openid.ClientSecretBasic,
  client_secret_post: openid.ClientSecretPost,
};

for (const [method, proof] of Object.entries(proofs)) {
  describe(`openid-client with ${method}`, () => {
    let service: RunningService;
    let client: TestClient;
    let config: openid.Configuration;
    const discover = ({ key, secret }: Pick<TestClient, 'key' | 'secret'>) =>
      openid.discovery(new URL(service.url), key, undefined, proof(secret), {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
      });
    before(async () => {
      service = await startService();
      client = await registerClient(service);
      config = await discover(client);
    });
    after(() => service?.dispose());

    const username = async (accessToken: string): Promise<unknown> => {
      const url = new URL('/profiles/v2/me', service.url);
      const reply = await openid.fetchProtectedResource(config, accessToken, url, 'GET');
      return JSON.parse(await reply.text()).username;
    };
    const withCode = async () => {
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(config, { redirect_uri: callback, state });
      return openid.authorizationCodeGrant(config, await authorize(service, address), {
        expectedState: state,
      });
    };

    test('finds out by itself what the service offers', () => {
      const server = config.serverMetadata();
      assert.equal(server.issuer, service.url);
      assert.equal(server.supportsPKCE(), true);
      assert.equal(server.authorization_response_iss_parameter_supported, true);
    });

    test('goes through the authorization code flow with PKCE, state and issuer', async () => {
      const verifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: 'PRODUCTION',
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const back = await authorize(service, address);
      const tokens = await openid.authorizationCodeGrant(config, back, {
        pkceCodeVerifier: verifier,
        expectedState: state,
      });
      // Its own expiresIn() counts down from here.
      assert.equal(tokens.expires_in, 14_400);
      assert.equal(tokens.token_type, 'bearer');
      assert.ok(tokens.refresh_token);
      assert.equal(await username(tokens.access_token), 'admin');
    });

    test('goes through the authorization code flow without PKCE, and without state', async () => {
      assert.equal(await username((await withCode()).access_token), 'admin');
      const address = openid.buildAuthorizationUrl(config, { redirect_uri: callback });
      const tokens = await openid.authorizationCodeGrant(config, await authorize(service, address));
      assert.equal(await username(tokens.access_token), 'admin');
    });

    test('itself refuses an answer with another state or issuer', async () => {
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(config, { redirect_uri: callback, state });
      const back = await authorize(service, address);
      await assert.rejects(
        openid.authorizationCodeGrant(config, back, { expectedState: openid.randomState() }),
        because('unexpected "state" response parameter value'),
      );
      const foreign = new URL(back);
      foreign.searchParams.set('iss', 'https://other.example.org');
      await assert.rejects(
        openid.authorizationCodeGrant(config, foreign, { expectedState: state }),
        because('unexpected "iss" (issuer) response parameter value'),
      );
      // Neither of the two has used up the code.
      const tokens = await openid.authorizationCodeGrant(config, back, { expectedState: state });
      assert.equal(await username(tokens.access_token), 'admin');
    });

    test('reports the person’s no as access_denied', async () => {
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        state,
        show_dialog: 'true',
      });
      const back = await authorize(service, address, 'deny');
      await assert.rejects(
        openid.authorizationCodeGrant(config, back, { expectedState: state }),
        (error: unknown) => {
          assert.ok(error instanceof openid.AuthorizationResponseError);
          assert.equal(error.error, 'access_denied');
          assert.ok(error.error_description);
          return true;
        },
      );
    });

    test('reports a wrong verifier, and a code that was used before, as invalid_grant', async () => {
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(openid.randomPKCECodeVerifier()),
        code_challenge_method: 'S256',
      });
      const back = await authorize(service, address);
      const checks = {
        expectedState: state,
        pkceCodeVerifier: openid.randomPKCECodeVerifier(),
      };
      for (let round = 0; round < 2; round++)
        await assert.rejects(
          openid.authorizationCodeGrant(config, back, checks),
          refusal(400, 'invalid_grant'),
        );
    });

    test('refreshes', async () => {
      const first = await withCode();
      assert.ok(first.refresh_token);
      const second = await openid.refreshTokenGrant(config, first.refresh_token);
      assert.notEqual(second.access_token, first.access_token);
      assert.ok(second.refresh_token);
      assert.equal(await username(second.access_token), 'admin');
      await assert.rejects(
        openid.refreshTokenGrant(config, 'rct_rt_nonsense'),
        refusal(400, 'invalid_grant'),
      );
    });

    test('gets tokens with the client’s own credentials', async () => {
      for (const parameters of [undefined, { scope: 'PRODUCTION' }]) {
        const tokens = await openid.clientCredentialsGrant(config, parameters);
        assert.equal(tokens.refresh_token, undefined);
        assert.equal(await username(tokens.access_token), 'admin');
      }
      await assert.rejects(
        openid.clientCredentialsGrant(config, { scope: 'openid' }),
        refusal(400, 'invalid_scope'),
      );
    });

    test('gets tokens with a password, as a grant that it has no function for', async () => {
      const tokens = await openid.genericGrantRequest(config, 'password', {
        ...admin,
        scope: 'PRODUCTION',
      });
      assert.ok(tokens.refresh_token);
      assert.equal(await username(tokens.access_token), 'admin');
      const wrong = { username: 'nobody', password: 'wrong one', scope: 'PRODUCTION' };
      await assert.rejects(
        openid.genericGrantRequest(config, 'password', wrong),
        refusal(400, 'invalid_grant'),
      );
    });

    test('connects a device, and hears of a no', async () => {
      const device = await openid.initiateDeviceAuthorization(config, { scope: 'PRODUCTION' });
      const refused = await openid.initiateDeviceAuthorization(config, {});
      await connectDevice(service, device.verification_uri_complete ?? '');
      await connectDevice(service, refused.verification_uri_complete ?? '', 'deny');
      const [tokens] = await Promise.all([
        openid.pollDeviceAuthorizationGrant(config, device),
        assert.rejects(
          openid.pollDeviceAuthorizationGrant(config, refused),
          refusal(400, 'access_denied'),
        ),
      ]);
      assert.ok(tokens.refresh_token);
      assert.equal(await username(tokens.access_token), 'admin');
    });

    test('asks about a token, and revokes it', async () => {
      const { access_token, refresh_token = '' } = await withCode();
      const about = await openid.tokenIntrospection(config, access_token);
      assert.equal(about.active, true);
      assert.equal(about.client_id, client.key);
      assert.equal(about.username, 'admin');
      assert.equal((await openid.tokenIntrospection(config, refresh_token)).active, true);
      const hint = { token_type_hint: 'access_token' };
      await openid.tokenRevocation(config, access_token, hint);
      assert.deepEqual(await openid.tokenIntrospection(config, access_token), { active: false });
      await assert.rejects(username(access_token), (error: unknown) => {
        assert.ok(error instanceof openid.WWWAuthenticateChallengeError);
        assert.equal(error.status, 401);
        const [challenge] = error.cause;
        assert.equal(challenge?.scheme, 'bearer');
        assert.equal(challenge?.parameters.error, 'invalid_token');
        return true;
      });
      await openid.tokenRevocation(config, refresh_token);
      await assert.rejects(
        openid.refreshTokenGrant(config, refresh_token),
        refusal(400, 'invalid_grant'),
      );
      // RFC 7009: a token that is none is as good as revoked.
      await openid.tokenRevocation(config, 'nonsense');
    });

    test('reports a wrong secret', async () => {
      const wrong = await discover({ key: client.key, secret: 'rct_cs_wrong' });
      const isRefused = (error: unknown) => {
        // With a challenge in the answer the library reports that instead of the body.
        assert.ok(error instanceof openid.WWWAuthenticateChallengeError, String(error));
        assert.deepEqual([error.status, error.cause[0]?.scheme], [401, 'basic']);
        return true;
      };
      await assert.rejects(openid.clientCredentialsGrant(wrong), isRefused);
      await assert.rejects(openid.tokenIntrospection(wrong, 'x'), isRefused);
      await assert.rejects(openid.tokenRevocation(wrong, 'x'), isRefused);
    });
  });
}

const because = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof openid.ClientError && error.cause instanceof Error, String(error));
  assert.equal(error.cause.message, reason);
  return true;
};

const refusal = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof openid.ResponseBodyError, String(error));
  assert.deepEqual([error.status, error.error], [status, code]);
  assert.ok(error.error_description);
  return true;
};
