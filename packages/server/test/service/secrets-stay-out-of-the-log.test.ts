import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { withoutSecrets } from '../../src/http/request-log.ts';
import { newSecret } from '../../src/oauth/secret-format.ts';
import {
  admin,
  authorizePath,
  callback,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** Goes through the flows, right and wrong, remembers every secret that passes by, and then reads the log. */
describe('the log at its most talkative', () => {
  let service: RunningService;
  let client: TestClient;
  const secrets = new Map<string, string>();
  const remember = (what: string, secret: unknown): string => {
    assert.ok(typeof secret === 'string' && secret.length >= 8, `${what} is there`);
    secrets.set(secret, what);
    return secret;
  };
  before(async () => {
    service = await startService({
      environment: { REACTORD_LOG_LEVEL: 'trace', REACTORD_LOG_FORMAT: 'json' },
    });
    remember('the admin’s password', admin.password);
    client = await registerClient(service);
    remember('a client secret', client.secret);
  });
  after(() => service?.dispose());

  const basicOf = (name: string, password: string) => {
    const encoded = Buffer.from(`${name}:${password}`).toString('base64');
    return `Basic ${remember('HTTP Basic credentials', encoded)}`;
  };
  const post = async (
    path: string,
    fields: Readonly<Record<string, string>>,
    authorization = basicOf(client.key, client.secret),
  ) => {
    const reply = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(fields),
    });
    const body = JSON.parse(await reply.text());
    for (const name of ['access_token', 'refresh_token', 'device_code'])
      if (name in body) remember(name, body[name]);
    return body;
  };
  const get = (path: string, token: string) =>
    fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } });

  /** Login and consent, with everything secret on the way. */
  const visit = async (parameters: Readonly<Record<string, string>>, decision: string) => {
    const browser = new Browser(service.url);
    const state = remember('a state', randomBytes(24).toString('base64url'));
    const path = authorizePath(client, { state, show_dialog: 'true', ...parameters });
    const login = await browser.follow(await browser.get(path));
    const refused = await browser.submit(login.form('/login'), {
      username: remember('a password typed as a name', randomBytes(12).toString('hex')),
      password: remember('a mistyped password', randomBytes(12).toString('hex')),
    });
    const form = refused.form('/login');
    remember('a form’s own token', form.fields['csrf']);
    for (const [name, value] of browser.cookies) remember(`the first cookie ${name}`, value);
    const consent = await browser.follow(await browser.submit(form, { ...admin }));
    const back = await browser.submit(consent.form('/consent'), { decision });
    for (const [name, value] of browser.cookies) remember(`the cookie ${name}`, value);
    browser.close();
    const url = new URL(back.location ?? '');
    const answer = new URLSearchParams(url.hash.slice(1) || url.search);
    for (const name of ['code', 'access_token'])
      if (answer.has(name)) remember(name, answer.get(name));
    return answer;
  };

  test('holds no secret after every flow', async () => {
    const verifier = remember('a code verifier', randomBytes(32).toString('base64url'));
    const granted = await visit(
      {
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      },
      'approve',
    );
    const exchange = {
      grant_type: 'authorization_code',
      code: granted.get('code') ?? '',
      redirect_uri: callback,
      code_verifier: verifier,
    };
    const tokens = await post('/token', exchange);
    assert.equal((await get('/profiles/v2/me', tokens.access_token)).status, 200);
    await post('/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
    // Used before: everything that came of it is revoked.
    assert.equal((await post('/token', exchange)).error, 'invalid_grant');
    assert.equal((await get('/profiles/v2/me', tokens.access_token)).status, 401);

    const denied = await visit({}, 'deny');
    assert.equal(denied.get('error'), 'access_denied');
    const implicit = await visit({ response_type: 'token', scope: 'PRODUCTION' }, 'approve');
    assert.ok(implicit.has('access_token'));

    await post('/token', { grant_type: 'client_credentials' });
    const password = { grant_type: 'password', scope: 'PRODUCTION', ...admin };
    const { access_token, refresh_token } = await post('/token', password);
    const wrongPassword = remember('a wrong password', randomBytes(12).toString('hex'));
    await post('/token', { ...password, password: wrongPassword });
    const { key, secret } = client;
    await post('/introspect', { token: access_token, client_id: key, client_secret: secret }, '');
    await post('/revoke', { token: refresh_token });
    const wrongSecret = remember('a wrong client secret', newSecret('clientSecret'));
    await post('/token', password, basicOf(client.key, wrongSecret));
    const device = await post('/device_authorization', {});
    await post('/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    await holdsNone();
  });

  test('holds no secret that was sent to a wrong place or in a broken way', async () => {
    const token = remember('a token in odd places', newSecret('accessToken'));
    const odd = remember('a password in odd places', randomBytes(20).toString('hex'));
    const authorization = basicOf(admin.username, admin.password);
    for (const path of [
      `/profiles/v2/me?access_token=${token}`,
      `/profiles/v2/me?${token}`,
      `/profiles/v2/me?a=1&${token}&b=${odd}`,
      `/token?password=${odd}`,
      `/profiles/v2/${token}`,
      `/nowhere/${token}/x?y=${odd}`,
      `/authorize?client_id=${token}&redirect_uri=${odd}`,
      `/callback?code=${token}&state=${odd}`,
      `/%zz?code=${odd}`,
    ])
      await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${odd}` } });
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain'])
      for (const path of ['/clients/v2', '/token', '/login', '/revoke'])
        for (const body of [`{"password":"${odd}`, `${odd}`, `password=${odd}&%zz=${token}`])
          await fetch(`${service.url}${path}`, {
            method: 'POST',
            headers: { authorization, 'content-type': type },
            body,
          });
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.end(`GET / HTTP/1.1\r\nAuthorization Bearer ${token}\r\n\r\n`);
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    await holdsNone();
  });

  test('shows of an address its path and the plain names of its parameters', () => {
    const secret = newSecret('accessToken');
    assert.equal(withoutSecrets('/a/b'), '/a/b');
    assert.equal(withoutSecrets('/a?x=1&client_id=2&y'), '/a?x&client_id&y');
    assert.equal(withoutSecrets(`/a?${secret}&b=${secret}`), '/a?…&b');
    assert.equal(withoutSecrets(`/a/${secret}/b`), '/a/…/b');
    assert.equal(withoutSecrets('/a?b=c?code=d'), '/a?b');
  });

  /** Waits until the log has caught up with what was sent before. */
  const holdsNone = async () => {
    const mark = `/mark-${randomBytes(6).toString('hex')}`;
    await fetch(service.url + mark);
    await until('the log to catch up', () => service.output().includes(mark));
    const written = service.output() + service.errors();
    const forms = (secret: string) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replaceAll('=', ''),
    ];
    for (const [secret, what] of secrets)
      for (const form of forms(secret)) {
        const at = written.indexOf(form);
        assert.equal(at, -1, `${what} is in the log: ${written.slice(Math.max(0, at - 200), at)}`);
      }
    assert.doesNotMatch(written, /rct_[a-z]{2}_[0-9A-Za-z]{20}/);
  };
});
