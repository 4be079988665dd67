import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import ClientOAuth2 from 'client-oauth2';
import { admin, callback, registerClient, type TestClient } from '../harness/authorize-scene.ts';
import { authorize } from '../harness/person-visits.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('client-oauth2', () => {
  let service: RunningService;
  let client: TestClient;
  let auth: ClientOAuth2;
  const settings = (secret: string): ClientOAuth2.Options => ({
    clientId: client.key,
    clientSecret: secret,
    accessTokenUri: `${service.url}/token`,
    authorizationUri: `${service.url}/authorize`,
    redirectUri: callback,
    scopes: ['PRODUCTION'],
  });
  before(async () => {
    service = await startService();
    client = await registerClient(service);
    auth = new ClientOAuth2(settings(client.secret));
  });
  after(() => service?.dispose());

  const username = async (token: ClientOAuth2.Token): Promise<unknown> => {
    // Signs with a header only where token_type is bearer, in whatever case.
    const headers: Record<string, string> = {};
    const { url } = token.sign({ url: `${service.url}/profiles/v2/me`, headers });
    const reply = await fetch(url, { headers });
    assert.equal(reply.status, 200, await reply.clone().text());
    return JSON.parse(await reply.text()).username;
  };

  test('goes through the authorization code flow with HTTP Basic, and refreshes', async () => {
    const back = await authorize(service, auth.code.getUri({ state: 'xyz' }));
    const token = await auth.code.getToken(back.href, { state: 'xyz' });
    assert.equal(token.tokenType, 'bearer');
    assert.equal(token.expired(), false);
    assert.equal(await username(token), 'admin');
    const next = await token.refresh();
    assert.notEqual(next.accessToken, token.accessToken);
    assert.ok(next.refreshToken);
    assert.equal(await username(next), 'admin');
    assert.equal(await username(await next.refresh({ body: { scope: 'PRODUCTION' } })), 'admin');
  });

  test('goes through the authorization code flow with its credentials in the body', async () => {
    const { clientSecret: _, ...withoutSecret } = settings(client.secret);
    const bare = new ClientOAuth2(withoutSecret);
    const back = await authorize(service, bare.code.getUri());
    const token = await bare.code.getToken(back.href, { body: { client_secret: client.secret } });
    assert.equal(await username(token), 'admin');
  });

  test('goes through the authorization code flow with PKCE, by parameters that it passes on', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = {
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    const back = await authorize(service, auth.code.getUri({ query: challenge }));
    const token = await auth.code.getToken(back.href, { body: { code_verifier: verifier } });
    assert.equal(await username(token), 'admin');
    const again = await authorize(service, auth.code.getUri({ query: challenge }));
    await assert.rejects(auth.code.getToken(again.href), refusal('invalid_grant'));
  });

  test('goes through the implicit flow, where the token comes in the fragment', async () => {
    const back = await authorize(service, auth.token.getUri({ state: 'xyz' }));
    assert.equal(back.search, '');
    const token = await auth.token.getToken(back.href, { state: 'xyz' });
    assert.equal(token.refreshToken, undefined);
    assert.equal(token.data['expires_in'], '3600');
    assert.equal(await username(token), 'admin');
  });

  test('itself refuses an answer with another state', async () => {
    const code = await authorize(service, auth.code.getUri({ state: 'xyz' }));
    await assert.rejects(auth.code.getToken(code.href, { state: 'other' }), /Invalid state: xyz/);
    const token = await authorize(service, auth.token.getUri({ state: 'xyz' }));
    await assert.rejects(auth.token.getToken(token.href, { state: 'other' }), /Invalid state: xyz/);
  });

  test('reports the person’s no as access_denied, in both flows', async () => {
    for (const flow of [auth.code, auth.token]) {
      const address = flow.getUri({ query: { show_dialog: 'true' } });
      const back = await authorize(service, address, 'deny');
      await assert.rejects(flow.getToken(back.href), refusal('access_denied'));
    }
  });

  test('gets tokens with a password', async () => {
    const token = await auth.owner.getToken(admin.username, admin.password);
    assert.equal(await username(token), 'admin');
    assert.equal(await username(await token.refresh()), 'admin');
    await assert.rejects(auth.owner.getToken('nobody', 'wrong one'), refusal('invalid_grant'));
  });

  test('gets tokens with the client’s own credentials', async () => {
    const token = await auth.credentials.getToken();
    assert.equal(token.refreshToken, undefined);
    assert.equal(await username(token), 'admin');
    await assert.rejects(
      auth.credentials.getToken({ scopes: ['OTHER'] }),
      refusal('invalid_scope'),
    );
  });

  test('reports a wrong secret, and a grant that the service does not have', async () => {
    const wrong = new ClientOAuth2(settings('rct_cs_wrong'));
    await assert.rejects(wrong.credentials.getToken(), refusal('invalid_client'));
    await assert.rejects(auth.jwt.getToken('a.b.c'), refusal('unsupported_grant_type'));
  });
});

const refusal = (code: string) => (error: object) => {
  assert.ok('code' in error && 'body' in error, String(error));
  assert.equal(error.code, 'EAUTH');
  assert.partialDeepStrictEqual(error.body, { error: code });
  return true;
};
