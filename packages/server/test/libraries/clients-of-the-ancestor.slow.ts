import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { admin } from '../harness/authorize-scene.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** What the libraries and command lines of Agave and Abaco send and read, without their packages. */
describe('a client library of the ancestor', () => {
  let service: RunningService;
  before(async () => {
    service = await startService();
  });
  after(() => service?.dispose());

  const basic = (name: string, secret: string) =>
    `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  const asUser = basic(admin.username, admin.password);

  const call = async (path: string, options: RequestInit) => {
    const reply = await fetch(`${service.url}${path}`, options);
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  const createClient = async (clientName: string) => {
    const { status, body } = await call('/clients/v2/', {
      method: 'POST',
      headers: { authorization: asUser, 'content-type': 'application/json' },
      body: JSON.stringify({ clientName }),
    });
    assert.equal(status, 201);
    return { key: body.consumerKey, secret: body.consumerSecret };
  };
  const askForTokens = async (
    { key, secret }: { readonly key: string; readonly secret: string },
    form: Readonly<Record<string, string>>,
  ) => {
    const { status, body } = await call('/token', {
      method: 'POST',
      headers: { authorization: basic(key, secret) },
      body: new URLSearchParams({ scope: 'PRODUCTION', ...form }),
    });
    assert.equal(status, 200, JSON.stringify(body));
    // Each is read without a look whether it is there, after a refresh too.
    assert.equal(body.token_type, 'bearer');
    assert.equal(body.expires_in, 14_400);
    assert.equal(typeof body.access_token, 'string');
    assert.equal(typeof body.refresh_token, 'string');
    return body;
  };
  const me = (token: string) =>
    call('/profiles/v2/me', { headers: { authorization: `Bearer ${token}` } });

  test('registers a client and goes on with its key: password, refresh', async () => {
    const client = await createClient('ancestor');
    const first = await askForTokens(client, { grant_type: 'password', ...admin });
    assert.equal((await me(first.access_token)).body.username, 'admin');
    const second = await askForTokens(client, {
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token,
    });
    assert.equal((await me(second.access_token)).body.username, 'admin');
    const third = await askForTokens(client, {
      grant_type: 'refresh_token',
      refresh_token: second.refresh_token,
    });
    assert.equal((await me(third.access_token)).body.username, 'admin');
  });

  test('sees by fault.message that a token is dead, refreshes and tries again', async () => {
    const client = await createClient('patient');
    const { access_token, refresh_token } = await askForTokens(client, {
      grant_type: 'password',
      ...admin,
    });
    const revoked = await call('/revoke', {
      method: 'POST',
      headers: { authorization: basic(client.key, client.secret) },
      body: new URLSearchParams({ token: access_token }),
    });
    assert.equal(revoked.status, 200);
    const { status, body } = await me(access_token);
    assert.equal(status, 401);
    assert.ok(body.fault.message.includes('Invalid Credentials'));
    // One command line looks for the word "fault" and a code in the first line of the text.
    assert.equal(typeof body.fault.code, 'number');
    const next = await askForTokens(client, { grant_type: 'refresh_token', refresh_token });
    assert.equal((await me(next.access_token)).status, 200);
  });

  test('reads records inside `result` where it asks for the envelope', async () => {
    const { status, body } = await call('/clients/v2?naked=false', {
      method: 'POST',
      headers: { authorization: asUser },
      body: new URLSearchParams({
        clientName: 'in-an-envelope',
        description: '',
        tier: 'Unlimited',
        callbackUrl: '',
      }),
    });
    assert.equal(status, 201);
    assert.equal(body.status, 'success');
    assert.ok(body.result.consumerKey && body.result.consumerSecret);
    const listed = await call('/clients/v2/?naked=false', { headers: { authorization: asUser } });
    assert.ok(listed.body.result.some((each: { name: string }) => each.name === 'in-an-envelope'));
    const profile = await call('/profiles/v2/me?naked=false', {
      headers: {
        authorization: `Bearer ${(await freshToken(body.result)).access_token}`,
      },
    });
    assert.equal(profile.body.result.username, 'admin');
  });

  const freshToken = (record: { consumerKey: string; consumerSecret: string }) =>
    askForTokens(
      { key: record.consumerKey, secret: record.consumerSecret },
      { grant_type: 'password', ...admin },
    );
});
