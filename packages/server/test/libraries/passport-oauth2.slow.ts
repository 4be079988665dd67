import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OAuth2Strategy from 'passport-oauth2';
import { callback, registerClient, type TestClient } from '../harness/authorize-scene.ts';
import { authorize } from '../harness/person-visits.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** What passport itself would do with a strategy: hand it the request, and take what it decides. */
type Outcome =
  | { readonly kind: 'redirect'; readonly address: string }
  | { readonly kind: 'success'; readonly user: unknown }
  | { readonly kind: 'fail'; readonly reason: unknown; readonly status: unknown }
  | { readonly kind: 'error'; readonly error: unknown };

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly results: { readonly expires_in?: number; readonly token_type?: string };
}

/** The library keeps its state and verifier in here between the two requests. */
type WebSession = Record<string, unknown>;

describe('passport-oauth2', () => {
  let service: RunningService;
  let client: TestClient;
  before(async () => {
    service = await startService();
    client = await registerClient(service);
  });
  after(() => service?.dispose());

  const strategy = (options: object = {}, secret = client.secret) => {
    const settings = {
      authorizationURL: `${service.url}/authorize`,
      tokenURL: `${service.url}/token`,
      clientID: client.key,
      clientSecret: secret,
      callbackURL: callback,
      scope: 'PRODUCTION',
      ...options,
    };
    const take = (
      accessToken: string,
      refreshToken: string,
      results: Tokens['results'],
      _profile: unknown,
      done: (error: null, user: object) => void,
    ) => done(null, { accessToken, refreshToken, results });
    return new OAuth2Strategy(settings, take);
  };

  const username = async (accessToken: string): Promise<unknown> => {
    const reply = await fetch(`${service.url}/profiles/v2/me`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    return JSON.parse(await reply.text()).username;
  };

  const begin = async (passport: OAuth2Strategy, session: WebSession) => {
    const outcome = await ask(passport, {}, session);
    assert.equal(outcome.kind, 'redirect');
    return outcome.kind === 'redirect' ? outcome.address : '';
  };
  const comeBack = (passport: OAuth2Strategy, back: URL, session: WebSession) =>
    ask(passport, Object.fromEntries(back.searchParams), session);

  for (const [name, options] of Object.entries({
    'without state': {},
    'with state': { state: true },
    'with state and PKCE': { state: true, pkce: true },
  })) {
    test(`logs a person in ${name}`, async () => {
      const passport = strategy(options);
      const session: WebSession = {};
      const back = await authorize(service, await begin(passport, session));
      const { accessToken, refreshToken, results } = userOf(
        await comeBack(passport, back, session),
      );
      assert.deepEqual(results.expires_in, 14_400);
      assert.ok(refreshToken);
      assert.equal(await username(accessToken), 'admin');
    });
  }

  test('itself refuses an answer with another state', async () => {
    const passport = strategy({ state: true });
    const session: WebSession = {};
    const back = await authorize(service, await begin(passport, session));
    back.searchParams.set('state', 'other');
    const outcome = await comeBack(passport, back, session);
    assert.partialDeepStrictEqual(outcome, { kind: 'fail', status: 403 });
  });

  test('takes the person’s no as a failed login, with our sentence', async () => {
    const passport = Object.assign(strategy(), {
      authorizationParams: () => ({ show_dialog: true }),
    });
    const session: WebSession = {};
    const back = await authorize(service, await begin(passport, session), 'deny');
    const outcome = await comeBack(passport, back, session);
    assert.equal(outcome.kind, 'fail');
    assert.match(JSON.stringify(outcome), /"message":"[^"]+"/);
  });

  test('reports a wrong scope as an authorization error', async () => {
    const passport = strategy({ scope: 'openid' });
    const session: WebSession = {};
    const back = await authorize(service, await begin(passport, session));
    const outcome = await comeBack(passport, back, session);
    assert.ok(outcome.kind === 'error');
    assert.ok(outcome.error instanceof OAuth2Strategy.AuthorizationError);
    assert.equal(outcome.error.code, 'invalid_scope');
  });

  test('reports a used code and a wrong secret as token errors', async () => {
    const passport = strategy();
    const back = await authorize(service, await begin(passport, {}));
    userOf(await comeBack(passport, back, {}));
    for (const [again, code] of [
      [passport, 'invalid_grant'],
      [strategy({}, 'rct_cs_wrong'), 'invalid_client'],
    ] as const) {
      const outcome = await comeBack(again, back, {});
      assert.ok(outcome.kind === 'error');
      assert.ok(outcome.error instanceof OAuth2Strategy.TokenError, String(outcome.error));
      assert.equal(outcome.error.code, code);
    }
  });

  test('cannot also send HTTP Basic: its secret is always in the body, and RFC 6749 allows one proof', async () => {
    const proof = Buffer.from(`${client.key}:${client.secret}`).toString('base64');
    const passport = strategy({ customHeaders: { Authorization: `Basic ${proof}` } });
    const back = await authorize(service, await begin(passport, {}));
    const outcome = await comeBack(passport, back, {});
    assert.ok(outcome.kind === 'error');
    assert.ok(outcome.error instanceof OAuth2Strategy.TokenError);
    assert.equal(outcome.error.code, 'invalid_request');
  });

  test('refreshes by the client that it is built on', async () => {
    // "Protected": strategies that build on this one, and passport-oauth2-refresh, use it.
    class WithClient extends OAuth2Strategy {
      refresh(token: string): Promise<Tokens> {
        return new Promise((resolve, reject) => {
          const parameters = { grant_type: 'refresh_token' };
          this._oauth2.getOAuthAccessToken(
            token,
            parameters,
            (error, accessToken = '', refreshToken = '', results = {}) =>
              error ? reject(error) : resolve({ accessToken, refreshToken, results }),
          );
        });
      }
      read(url: string, token: string): Promise<string> {
        this._oauth2.useAuthorizationHeaderforGET(true);
        return new Promise((resolve, reject) => {
          this._oauth2.get(url, token, (error, body) =>
            error ? reject(error) : resolve(String(body)),
          );
        });
      }
    }
    const first = strategy();
    const { refreshToken } = userOf(
      await comeBack(first, await authorize(service, await begin(first, {})), {}),
    );
    const passport = new WithClient(
      {
        authorizationURL: `${service.url}/authorize`,
        tokenURL: `${service.url}/token`,
        clientID: client.key,
        clientSecret: client.secret,
      },
      () => {},
    );
    const next = await passport.refresh(refreshToken);
    assert.ok(next.refreshToken);
    const me = await passport.read(`${service.url}/profiles/v2/me`, next.accessToken);
    assert.equal(JSON.parse(me).username, 'admin');
  });
});

function ask(
  strategy: OAuth2Strategy,
  query: Readonly<Record<string, string>>,
  session: WebSession,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const passport: OAuth2Strategy = Object.create(strategy);
    Object.assign(passport, {
      redirect: (address: string) => resolve({ kind: 'redirect', address }),
      success: (user: unknown) => resolve({ kind: 'success', user }),
      fail: (reason: unknown, status: unknown) => resolve({ kind: 'fail', reason, status }),
      error: (error: unknown) => resolve({ kind: 'error', error }),
    });
    // What it reads of a request of express.
    const request = { query, session };
    Reflect.apply(passport.authenticate, passport, [request]);
  });
}

function userOf(outcome: Outcome): Tokens {
  assert.equal(outcome.kind, 'success', String(outcome.kind === 'error' && outcome.error));
  const user: Tokens = JSON.parse(JSON.stringify(outcome.kind === 'success' ? outcome.user : {}));
  return user;
}
