import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  answerOf,
  authorizePath,
  callback,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser, type Reply } from '../harness/browser.ts';
import { logged } from '../harness/logged.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('an authorization request', () => {
  let service: RunningService;
  let client: TestClient;
  let browser: Browser;
  before(async () => {
    service = await startService();
    client = await registerClient(service);
    browser = new Browser(service.url);
  });
  after(async () => {
    browser.close();
    await service.dispose();
  });

  const ask = (parameters: Readonly<Record<string, string | undefined>>) =>
    browser.get(authorizePath(client, parameters));

  /** A redirect to the registered address with just this error. */
  const assertRefused = (reply: Reply, error: string, state?: string) => {
    assert.equal(reply.status, 302, reply.html);
    const { address, query } = answerOf(reply);
    assert.equal(address, callback);
    assert.equal(query['error'], error);
    assert.equal(query['state'], state);
    assert.equal(query['iss'], service.url);
    assert.equal(query['code'], undefined);
  };

  describe('that is wrong otherwise is redirected with an error,', () => {
    test('invalid_request for a missing response_type', async () => {
      assertRefused(await ask({ response_type: undefined, state: 's' }), 'invalid_request', 's');
      assertRefused(await ask({ response_type: '' }), 'invalid_request');
    });

    test('unsupported_response_type for anything but exactly code or token', async () => {
      for (const response_type of ['Code', 'CODE', ' code', 'code token', 'id_token', 'none', 'x'])
        assertRefused(await ask({ response_type, state: 's' }), 'unsupported_response_type', 's');
    });

    test('invalid_request for any repeated parameter, of which none wins', async () => {
      const path = authorizePath(client, {
        state: 's',
        scope: 'PRODUCTION',
        show_dialog: 'true',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      for (const again of [
        'response_type=code',
        'scope=PRODUCTION',
        'show_dialog=true',
        `code_challenge=${challenge}`,
        'code_challenge_method=S256',
        'code_challenge_method=',
        '%73cope=PRODUCTION',
      ])
        assertRefused(await browser.get(`${path}&${again}`), 'invalid_request', 's');
      assertRefused(await browser.get(`${path}&state=s`), 'invalid_request', undefined);
    });

    test('invalid_request for broken percent-encoding and for bytes that are not UTF-8', async () => {
      for (const broken of ['scope=%', 'scope=%zz', 'scope=%ff', 'scope=%c3%28', '%ff=x']) {
        const reply = await browser.get(`${authorizePath(client, { state: 's' })}&${broken}`);
        assertRefused(reply, 'invalid_request', 's');
      }
      const reply = await browser.get(`${authorizePath(client)}&state=%ff`);
      assertRefused(reply, 'invalid_request', undefined);
    });

    test('invalid_scope for anything but PRODUCTION', async () => {
      for (const scope of [
        'production',
        'SANDBOX',
        'PRODUCTION SANDBOX',
        'PRODUCTION,PRODUCTION',
        ' PRODUCTION',
        'PRODUCTION\t',
        '\0',
        '"',
      ])
        assertRefused(await ask({ scope, state: 's' }), 'invalid_scope', 's');
    });

    test('invalid_scope when the implicit flow comes without one; the code flow needs none', async () => {
      assertRefused(await ask({ response_type: 'token', state: 's' }), 'invalid_scope', 's');
      assert.match((await ask({ scope: undefined })).location ?? '', /^\/login\?request=/);
      assert.match((await ask({ scope: 'PRODUCTION' })).location ?? '', /^\/login\?request=/);
      const twice = await ask({ scope: 'PRODUCTION PRODUCTION' });
      assert.match(twice.location ?? '', /^\/login\?request=/);
    });

    test('invalid_request for a show_dialog that is neither true nor false', async () => {
      for (const show_dialog of ['True', 'FALSE', '1', '0', 'yes', 'true ', 'null'])
        assertRefused(await ask({ show_dialog, state: 's' }), 'invalid_request', 's');
      for (const show_dialog of ['true', 'false', undefined])
        assert.match((await ask({ show_dialog })).location ?? '', /^\/login\?request=/);
    });

    test('invalid_request for a code_challenge that is not S256 or not 43 to 128 unreserved characters', async () => {
      const wrong = [
        { code_challenge: challenge },
        { code_challenge: challenge, code_challenge_method: 'plain' },
        { code_challenge: challenge, code_challenge_method: 's256' },
        { code_challenge: challenge, code_challenge_method: 'S512' },
        { code_challenge_method: 'S256' },
        { code_challenge: challenge.slice(1), code_challenge_method: 'S256' },
        { code_challenge: 'x'.repeat(129), code_challenge_method: 'S256' },
        { code_challenge: `${challenge}=`, code_challenge_method: 'S256' },
        { code_challenge: `${challenge}+`, code_challenge_method: 'S256' },
        { code_challenge: `${challenge}\n`, code_challenge_method: 'S256' },
      ];
      for (const parameters of wrong)
        assertRefused(await ask({ ...parameters, state: 's' }), 'invalid_request', 's');
      for (const code_challenge of [challenge, 'x'.repeat(128), `${challenge.slice(4)}-._~`]) {
        const reply = await ask({ code_challenge, code_challenge_method: 'S256' });
        assert.match(reply.location ?? '', /^\/login\?request=/);
      }
    });

    test('invalid_request when the client has to use PKCE and does not', async () => {
      const strict = await registerClient(service, { requirePkce: true });
      assertRefused(await browser.get(authorizePath(strict)), 'invalid_request');
      const parameters = { code_challenge: challenge, code_challenge_method: 'S256' };
      const reply = await browser.get(authorizePath(strict, parameters));
      assert.match(reply.location ?? '', /^\/login\?request=/);
      const implicit = { response_type: 'token', scope: 'PRODUCTION' };
      const token = await browser.get(authorizePath(strict, implicit));
      assert.match(token.location ?? '', /^\/login\?request=/);
    });

    test('unauthorized_client for a flow that the client does not have', async () => {
      const codeOnly = await registerClient(service, { flows: ['authorization_code'] });
      const implicit = { response_type: 'token', scope: 'PRODUCTION', state: 's' };
      assertRefused(
        await browser.get(authorizePath(codeOnly, implicit)),
        'unauthorized_client',
        's',
      );
      const implicitOnly = await registerClient(service, { flows: ['implicit'] });
      assertRefused(await browser.get(authorizePath(implicitOnly)), 'unauthorized_client');
    });

    test('and a state of at most 4096 bytes; a longer one is invalid_request without it', async () => {
      const longest = 's'.repeat(4096);
      assertRefused(
        await ask({ response_type: 'x', state: longest }),
        'unsupported_response_type',
        longest,
      );
      assertRefused(await ask({ state: `${longest}s` }), 'invalid_request', undefined);
    });
  });

  describe('is answered', () => {
    test('in the query for the code flow, behind the query that was registered', async () => {
      for (const [registered, begin] of [
        ['https://app.example.org/a?b=c', 'https://app.example.org/a?b=c&error='],
        ['https://app.example.org/a?b=%2f+c&', 'https://app.example.org/a?b=%2f+c&error='],
        ['https://app.example.org/a?', 'https://app.example.org/a?error='],
        ['https://app.example.org', 'https://app.example.org?error='],
        ['org.example.app:/cb', 'org.example.app:/cb?error='],
      ] as const) {
        const own = await registerClient(service, { callbackUrl: registered });
        const parameters = { redirect_uri: registered, response_type: 'x' };
        const reply = await browser.get(authorizePath(own, parameters));
        assert.ok(reply.location?.startsWith(begin), reply.location);
        assert.ok(!reply.location?.includes('#'));
      }
    });

    test('with an error of the implicit flow in the query and in the fragment', async () => {
      const reply = await ask({ response_type: 'token', scope: 'x', state: 'a b&c=d#e' });
      const { query, fragment } = answerOf(reply);
      assert.equal(query['error'], 'invalid_scope');
      assert.equal(query['state'], 'a b&c=d#e');
      assert.equal(query['iss'], service.url);
      assert.deepEqual(fragment, query);
    });

    test('without regard to parameters that are not known, whatever is in them', async () => {
      const path = `${authorizePath(client)}&x=%ff&x=1&nonce=n&prompt=none&=&&a=b=c`;
      assert.match((await browser.get(path)).location ?? '', /^\/login\?request=/);
    });

    test('at any of several registered addresses, each exactly', async () => {
      const urls = ['https://app.example.org/a', 'http://localhost:7777/b', 'http://[::1]:7777/c'];
      const many = await registerClient(service, { callbackUrl: undefined, callbackUrls: urls });
      for (const redirect_uri of urls) {
        const reply = await browser.get(authorizePath(many, { redirect_uri, response_type: 'x' }));
        assert.equal(answerOf(reply).address, redirect_uri);
      }
    });

    test('also with a trailing slash and doubled slashes in the path, without a redirect between', async () => {
      for (const path of ['/authorize/', '//authorize']) {
        const reply = await browser.get(path);
        assert.equal(reply.status, 400);
        assert.match(reply.text, /does not say which application/);
      }
    });

    test('only to GET: POST, PUT and HEAD are refused by a page', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
        const reply = await browser.send(method, authorizePath(client), undefined);
        assert.equal(reply.status, 405, method);
        assert.equal(reply.headers.allow, 'GET');
        assert.match(String(reply.headers['content-type']), /^text\/html/);
        assert.match(String(reply.headers['content-security-policy']), /frame-ancestors 'none'/);
      }
    });
  });

  test('is never open to scripts of other origins', async () => {
    const origin = 'https://evil.example';
    const reply = await browser.get(authorizePath(client), { origin });
    assert.equal(reply.headers['access-control-allow-origin'], undefined);
    const preflight = await browser.send('OPTIONS', authorizePath(client), undefined, {
      origin,
      'access-control-request-method': 'GET',
    });
    assert.equal(preflight.headers['access-control-allow-origin'], undefined);
  });

  test('leaves no value of its query in the log', async () => {
    await ask({ response_type: 'x', state: 'very-secret-state' });
    await logged(service, /authorize\?response_type&client_id&redirect_uri&state/);
    assert.ok(!service.output().includes('very-secret-state'));
    assert.ok(!service.output().includes(client.key));
  });
});

describe('the operator’s settings', () => {
  test('switch the implicit flow off and PKCE on for every client', async (t) => {
    const service = await startService({
      environment: { REACTORD_IMPLICIT_FLOW: 'false', REACTORD_REQUIRE_PKCE: 'true' },
    });
    t.after(() => service.dispose());
    const client = await registerClient(service);
    const browser = new Browser(service.url);
    t.after(() => browser.close());
    const implicit = { response_type: 'token', scope: 'PRODUCTION' };
    const off = answerOf(await browser.get(authorizePath(client, implicit)));
    assert.equal(off.query['error'], 'unauthorized_client');
    assert.equal(off.fragment?.['error'], 'unauthorized_client');
    const without = answerOf(await browser.get(authorizePath(client)));
    assert.equal(without.query['error'], 'invalid_request');
  });
});
