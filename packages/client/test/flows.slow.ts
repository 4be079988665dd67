import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  admin,
  callback,
  registerClient,
  type TestClient,
} from '../../server/test/harness/authorize-scene.ts';
import { authorize, connectDevice } from '../../server/test/harness/person-visits.ts';
import { type RunningService, startService } from '../../server/test/harness/running-service.ts';
import {
  memoryStore,
  OAuth,
  OAuthError,
  ReactordClient,
  type Token,
  type TokenStore,
  UnauthorizedError,
} from '../src/index.ts';

describe('logins at a running service', () => {
  let service: RunningService;
  let application: TestClient;
  before(async () => {
    service = await startService();
    application = await registerClient(service);
  });
  after(() => service?.dispose());

  /** Requests to the token endpoint are counted in `asked`. */
  const login = (more: Partial<ConstructorParameters<typeof OAuth>[0]> = {}) => {
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      if (String(input).endsWith('/token')) asked.push(String(init?.body));
      return fetch(input, init);
    };
    const options = { baseUrl: service.url, fetch: counting };
    const { key: clientId, secret: clientSecret } = application;
    const oauth = new OAuth({ ...options, clientId, clientSecret, ...more });
    return { oauth, asked, client: new ReactordClient({ ...options, auth: oauth }) };
  };
  const refused = (code: string) => (error: unknown) => {
    assert.ok(error instanceof OAuthError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  };

  test('by authorization code with PKCE', async () => {
    const { oauth, client } = login();
    const request = await oauth.authorizationRequest(callback);
    assert.match(request.url, /code_challenge_method=S256/);
    assert.ok(!request.url.includes(request.codeVerifier ?? '?'));
    const back = await authorize(service, request.url);
    // As it survives a session.
    const kept = JSON.parse(JSON.stringify(request));
    await assert.rejects(
      oauth.finishAuthorization(back, { ...kept, state: 'another' }),
      refused('state_mismatch'),
    );
    await assert.rejects(
      oauth.finishAuthorization(back, { ...kept, issuer: 'https://evil.example.org' }),
      refused('issuer_mismatch'),
    );
    const token = await oauth.finishAuthorization(back, kept);
    assert.ok(token.refreshToken);
    assert.equal((await client.users.me()).username, 'admin');
    // A second time it is worth nothing, and ends what came of it.
    await assert.rejects(oauth.finishAuthorization(back.search, kept), refused('invalid_grant'));
  });

  test('by authorization code, which needs the verifier that was kept', async () => {
    const { oauth } = login();
    const request = await oauth.authorizationRequest(callback);
    const back = await authorize(service, request.url);
    const stolen = { ...request, codeVerifier: 'x'.repeat(43) };
    await assert.rejects(oauth.finishAuthorization(back, stolen), refused('invalid_grant'));
  });

  test('with the refusal of a person who says no', async () => {
    const { oauth } = login();
    const request = await oauth.authorizationRequest(callback, { showDialog: true });
    const back = await authorize(service, request.url, 'deny');
    await assert.rejects(oauth.finishAuthorization(back, request), refused('access_denied'));
    const implicit = await oauth.implicitRequest(callback, { showDialog: true });
    const denied = await authorize(service, implicit.url, 'deny');
    await assert.rejects(oauth.finishImplicit(denied, implicit), refused('access_denied'));
  });

  test('by the implicit flow, without a secret', async () => {
    const { oauth, client } = login({ clientSecret: undefined });
    const request = await oauth.implicitRequest(callback);
    const token = await oauth.finishImplicit(await authorize(service, request.url), request);
    assert.equal(token.refreshToken, undefined);
    assert.equal(token.expiresAt - token.obtainedAt, 3_600_000);
    assert.equal((await client.users.me()).username, 'admin');
    await assert.rejects(oauth.refresh(), refused('not_renewable'));
  });

  test('by password, and out again', async () => {
    const { oauth, client } = login();
    await assert.rejects(client.users.me(), refused('not_logged_in'));
    await assert.rejects(oauth.password('admin', 'wrong one'), refused('invalid_grant'));
    const { accessToken } = await oauth.password(admin.username, admin.password);
    assert.equal((await client.users.me()).username, 'admin');
    assert.equal((await oauth.introspect(accessToken)).active, true);
    await oauth.logout();
    assert.equal((await oauth.introspect(accessToken)).active, false);
    assert.equal(await oauth.token(), undefined);
    await assert.rejects(client.users.me(), refused('not_logged_in'));
  });

  test('as the client itself, which asks again by itself', async () => {
    const { oauth, asked, client } = login();
    const { accessToken } = await oauth.clientCredentials();
    await oauth.revoke(accessToken);
    assert.equal((await client.users.me()).username, 'admin');
    assert.equal(asked.length, 2);
    const wrong = login({ clientSecret: 'rct_cs_wrong' });
    await assert.rejects(wrong.oauth.clientCredentials(), refused('invalid_client'));
  });

  test('on another device: confirmed, denied, or left', async () => {
    const { oauth, client, asked } = login();
    const confirmed = oauth.device({
      show: async ({ userCode, verificationUri, verificationUriComplete, expiresIn }) => {
        assert.match(userCode, /^\w{4}-\w{4}$/);
        assert.equal(verificationUri, `${service.url}/device`);
        assert.ok(expiresIn > 60);
        // While it asks.
        setTimeout(() => void connectDevice(service, verificationUriComplete), 1000);
      },
    });
    const denied = login().oauth.device({
      show: ({ verificationUriComplete }) =>
        connectDevice(service, verificationUriComplete, 'deny'),
    });
    const left = new AbortController();
    const ended = login().oauth.device({ show: () => left.abort(), signal: left.signal });
    await Promise.all([
      confirmed,
      assert.rejects(denied, refused('access_denied')),
      assert.rejects(ended, { name: 'AbortError' }),
    ]);
    assert.ok(asked.length >= 1);
    assert.equal((await client.users.me()).username, 'admin');
    assert.ok((await oauth.token())?.refreshToken);
  });

  describe('are renewed', () => {
    const expired = (token: Token): Token => ({ ...token, expiresAt: Date.now() - 1 });

    test('before they expire, once for all requests that need it', async () => {
      const store = memoryStore();
      await login({ store }).oauth.password(admin.username, admin.password);
      const token = await store.load();
      assert.ok(token);
      await store.save(expired(token));
      const { client, asked } = login({ store });
      const names = await Promise.all(
        Array.from({ length: 20 }, async () => (await client.users.me()).username),
      );
      assert.deepEqual(new Set(names), new Set(['admin']));
      assert.equal(asked.length, 1);
      assert.match(asked[0] ?? '', /grant_type=refresh_token/);
      assert.notEqual((await store.load())?.accessToken, token.accessToken);
    });

    test('once when the service does not take them any more', async () => {
      const { oauth, client, asked } = login();
      const { accessToken } = await oauth.password(admin.username, admin.password);
      await new OAuth({
        baseUrl: service.url,
        clientId: application.key,
        clientSecret: application.secret,
      }).revoke(accessToken);
      // Revoking an access token ends the whole login where the service says so; either way it is one try.
      const first = await Promise.allSettled(Array.from({ length: 10 }, () => client.users.me()));
      assert.equal(asked.length, 2, 'the login, and one renewal');
      assert.equal(new Set(first.map(({ status }) => status)).size, 1);
    });

    test('not again and again, when the new one is refused too', async () => {
      const { oauth, asked } = login();
      await oauth.password(admin.username, admin.password);
      const answering: typeof fetch = async () =>
        new Response('{"status":"error","message":"no"}', { status: 401 });
      const client = new ReactordClient({ baseUrl: service.url, auth: oauth, fetch: answering });
      await assert.rejects(client.users.me(), UnauthorizedError);
      assert.equal(asked.length, 2);
    });

    test('by another program, whose token is then taken', async () => {
      const store = memoryStore();
      const one = login({ store });
      await one.oauth.password(admin.username, admin.password);
      const other = login({ store });
      await other.oauth.refresh();
      await one.oauth.refresh();
      assert.equal(one.asked.length, 1, 'only the login');
      assert.equal((await one.client.users.me()).username, 'admin');
    });

    test('by one program at a time, where the store sees to that', async () => {
      const kept = memoryStore();
      let turns: Promise<unknown> = Promise.resolve();
      const store: TokenStore = {
        ...kept,
        exclusively: (work) => {
          const turn = turns.then(work);
          turns = turn.catch(() => {});
          return turn;
        },
      };
      await login({ store }).oauth.password(admin.username, admin.password);
      const token = await store.load();
      assert.ok(token);
      await store.save(expired(token));
      const programs = Array.from({ length: 4 }, () => login({ store }));
      await Promise.all(programs.map(({ client }) => client.users.me()));
      assert.equal(programs.flatMap(({ asked }) => asked).length, 1);
    });

    test('later, when nobody answers and they are not over yet', async () => {
      const { oauth } = login();
      const token = await oauth.password(admin.username, admin.password);
      const due = { ...token, obtainedAt: Date.now() - 10_000_000, expiresAt: Date.now() + 30_000 };
      const lost = login({
        store: memoryStore(due),
        fetch: async () => new Response('{}', { status: 503 }),
        retry: { retries: 0 },
      });
      assert.equal((await lost.client.users.me()).username, 'admin');
    });
  });
});
