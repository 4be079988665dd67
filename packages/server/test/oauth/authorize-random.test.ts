import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import {
  answerOf,
  authorizePath,
  callback,
  decide,
  loggedInBrowser,
  openConsent,
  registerClient,
  type TestClient,
} from '../harness/authorize-scene.ts';
import { Browser } from '../harness/browser.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** What nobody thought of. */
describe('whatever is sent to /authorize', () => {
  let service: RunningService;
  let client: TestClient;
  let stranger: Browser;
  let person: Browser;
  before(async () => {
    service = await startService({ environment: { REACTORD_LOG_LEVEL: 'warn' } });
    client = await registerClient(service);
    stranger = new Browser(service.url);
    person = await loggedInBrowser(service);
  });
  after(async () => {
    stranger.close();
    person.close();
    await service.dispose();
  });

  const registered = [callback];
  const anyText = fc.string({ unit: 'binary', maxLength: 60 });

  /** Values that are right, nearly right, or anything. */
  const valueFor = (right: readonly string[]) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...right) },
      { weight: 1, arbitrary: fc.constantFrom(...right.map((value) => `${value}/`), '') },
      { weight: 1, arbitrary: anyText },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom(...right), fc.nat(30), anyText)
          .map(([value, at, text]) =>
            // A character may have been cut in two.
            (value.slice(0, at) + text + value.slice(at)).toWellFormed(),
          ),
      },
    );

  /** An address's own escapes, of which some are broken. */
  const encoded = (text: string): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(encodeURIComponent(text)) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom('%', '%ff', '%00', '%0d%0a', '+', '%zz', '=', '%c0%ae')
          .map((extra) => encodeURIComponent(text) + extra),
      },
    );

  const pair = (name: string, right: readonly string[]) =>
    valueFor(right)
      .chain(encoded)
      .map((value) => `${name}=${value}`);

  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const query = () =>
    fc
      .tuple(
        fc.oneof({ weight: 9, arbitrary: pair('client_id', [client.key]) }, fc.constant('')),
        fc.oneof({ weight: 9, arbitrary: pair('redirect_uri', registered) }, fc.constant('')),
        fc.array(
          fc.oneof(
            pair('response_type', ['code', 'token']),
            pair('scope', ['PRODUCTION']),
            pair('state', ['s', '\u{1F600}']),
            pair('show_dialog', ['true', 'false']),
            pair('code_challenge', [challenge]),
            pair('code_challenge_method', ['S256', 'plain']),
            fc.webQueryParameters(),
          ),
          { maxLength: 7 },
        ),
      )
      .chain(([id, uri, others]) =>
        fc.shuffledSubarray([id, uri, ...others], { minLength: others.length + 2 }),
      )
      .map((pairs) => pairs.filter((each) => each !== '').join('&'));

  test('is never a 5xx and never leads to an address that is not registered', async () => {
    await fc.assert(
      fc.asyncProperty(query(), fc.boolean(), async (text, loggedIn) => {
        const reply = await (loggedIn ? person : stranger).get(`/authorize?${text}`);
        assert.ok([302, 400].includes(reply.status), `${reply.status}`);
        if (reply.status === 400) {
          assert.equal(reply.location, undefined);
          return;
        }
        const own = /^\/(login|consent)\?request=[0-9A-Za-z]{14}$/.test(reply.location ?? '');
        const answered = registered.includes(answerOf(reply).address);
        assert.ok(own || answered, reply.location);
        if (answered) assert.equal(answerOf(reply).query['iss'], service.url);
      }),
      { numRuns: 1500 },
    );
  });

  test('as a state comes back as it was, with an error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
        async (state) => {
          const reply = await stranger.get(authorizePath(client, { state, response_type: 'x' }));
          assert.equal(answerOf(reply).query['state'], state);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('as a state comes back as it was, after it waited for a decision', async () => {
    const anyState = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom('\0', ' ', '+', '%', '&code=x#', 'a=b;c', '\r\n', '\u202e', '"><script>'),
    );
    await fc.assert(
      fc.asyncProperty(
        anyState,
        fc.constantFrom('code', 'token'),
        fc.constantFrom('approve', 'deny'),
        async (state, response_type, decision) => {
          const parameters = { state, response_type, scope: 'PRODUCTION', show_dialog: 'true' };
          const page = await openConsent(person, authorizePath(client, parameters));
          const { query, fragment } = answerOf(await decide(person, page, decision));
          const where = response_type === 'token' ? fragment : query;
          assert.equal(where?.['state'], state);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('as raw bytes in the address is answered without a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({
          unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
        }),
        async (text) => {
          const reply = await stranger.get(`/authorize?${text}`);
          assert.equal(reply.status, 400);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('as fields of the forms is answered without a 5xx', async () => {
    const field = fc.constantFrom(
      'csrf',
      'request',
      'username',
      'password',
      'decision',
      'user_code',
      'consent',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/login', '/logout', '/consent', '/device', '/account/applications/revoke'),
        fc.array(fc.tuple(field, fc.oneof(anyText, fc.constantFrom('device', 'approve', '')))),
        fc.boolean(),
        async (path, fields, loggedIn) => {
          const reply = await (loggedIn ? person : stranger).post(path, fields);
          assert.ok(reply.status < 500, `${path}: ${reply.status}`);
          assert.ok(reply.location === undefined || reply.location.startsWith('/'));
        },
      ),
      { numRuns: 300 },
    );
  });
});
