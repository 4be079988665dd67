// A web app that logs people in with reactord (authorization code with PKCE) and lists their reactors.
// Needs SERVICE, KEY, SECRET and CALLBACK; it listens where CALLBACK points.
import { createServer } from 'node:http';
import * as openid from 'openid-client';
import { loginPage, problemPage, reactorsPage } from './pages.mjs';
import { cookieOf, Sessions } from './sessions.mjs';

const { SERVICE, KEY, SECRET, CALLBACK } = process.env;
const { hostname, port, pathname: callbackPath, protocol } = new URL(CALLBACK);
const config = await openid.discovery(
  new URL(SERVICE),
  KEY,
  SECRET,
  openid.ClientSecretBasic(SECRET),
  {
    algorithm: 'oauth2',
    execute: SERVICE.startsWith('http://127.0.0.1') ? [openid.allowInsecureRequests] : [],
  },
);
const sessions = new Sessions();

const routes = {
  'GET /': home,
  'POST /login': logIn,
  [`GET ${callbackPath}`]: comeBack,
  'POST /logout': logOut,
};

async function home(session) {
  if (!session.tokens) return page(200, loginPage());
  const [{ username }, { result: reactors }] = await Promise.all([
    call(session, '/profiles/v2/me'),
    call(session, '/actors/v2'),
  ]);
  return page(200, reactorsPage(username, reactors));
}

/** What the browser must bring back is kept in the session: nobody else can use the answer. */
async function logIn(session) {
  session.verifier = openid.randomPKCECodeVerifier();
  session.state = openid.randomState();
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'PRODUCTION',
    state: session.state,
    code_challenge: await openid.calculatePKCECodeChallenge(session.verifier),
    code_challenge_method: 'S256',
  });
  return redirect(address.href);
}

async function comeBack(session, url) {
  const { state, verifier } = session;
  session.state = session.verifier = undefined;
  if (!state)
    return page(400, problemPage('This login was not begun here, or is over. Begin again.'));
  try {
    session.tokens = await openid.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
  } catch (error) {
    if (error.error === 'access_denied') return page(403, problemPage('You did not allow it.'));
    throw error;
  }
  // Somebody who knew the cookie from before the login must not be logged in by it.
  return redirect('/', sessions.renew(session));
}

async function logOut(session) {
  if (session.tokens) await openid.tokenRevocation(config, session.tokens.refresh_token);
  return redirect('/', sessions.end(session));
}

/** Calls the service for the person; a token that has run out is replaced once. */
async function call(session, path) {
  const ask = () =>
    openid.fetchProtectedResource(
      config,
      session.tokens.access_token,
      new URL(path, SERVICE),
      'GET',
    );
  let reply = await ask().catch(onlyRefused);
  if (reply.status === 401) {
    const fresh = await openid.refreshTokenGrant(config, session.tokens.refresh_token);
    session.tokens = { ...session.tokens, ...fresh };
    reply = await ask();
  }
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}`);
  return reply.json();
}

/** The library turns a 401 into an error. */
function onlyRefused(error) {
  if (error instanceof openid.WWWAuthenticateChallengeError) return error.response;
  throw error;
}

const page = (status, body) => ({
  status,
  body,
  headers: { 'Content-Type': 'text/html; charset=utf-8' },
});
const redirect = (location, cookie) => ({
  status: 303,
  body: '',
  headers: { Location: location, ...(cookie && { 'Set-Cookie': cookie }) },
});

createServer(async (request, reply) => {
  const url = new URL(request.url, CALLBACK);
  const { session, setCookie } = sessions.of(cookieOf(request), protocol === 'https:');
  const route = routes[`${request.method} ${url.pathname}`];
  // A form of another site must not log anybody in or out.
  const foreign = request.method === 'POST' && request.headers.origin !== new URL(CALLBACK).origin;
  let answer = page(404, problemPage('There is nothing here.'));
  try {
    if (route && !foreign) answer = await route(session, url);
  } catch (error) {
    console.error(error);
    answer = page(502, problemPage('The service did not answer as it should. Log in again.'));
    session.tokens = undefined;
  }
  reply.writeHead(answer.status, {
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' " +
      new URL(SERVICE).origin,
    'Cache-Control': 'no-store',
    ...(setCookie && { 'Set-Cookie': setCookie }),
    ...answer.headers,
  });
  reply.end(answer.body);
}).listen(Number(port), hostname, () => console.log(`Open ${new URL('/', CALLBACK)}`));
