// The authorization code flow with PKCE, by openid-client. Needs SERVICE, KEY, SECRET and CALLBACK.
import * as openid from 'openid-client';
import { waitForCallback } from './callback.mjs';
import { discover } from './discover.mjs';
import { whoIs } from './profile.mjs';

const config = await discover();
const verifier = openid.randomPKCECodeVerifier();
const state = openid.randomState();
const address = openid.buildAuthorizationUrl(config, {
  redirect_uri: process.env.CALLBACK,
  scope: 'PRODUCTION',
  state,
  code_challenge: await openid.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
});
console.log(`Open ${address.href}`);

// The library checks state and issuer, and exchanges the code.
const tokens = await openid.authorizationCodeGrant(
  config,
  await waitForCallback(process.env.CALLBACK),
  {
    pkceCodeVerifier: verifier,
    expectedState: state,
  },
);
console.log(`A token for ${await whoIs(tokens.access_token)}.`);

const fresh = await openid.refreshTokenGrant(config, tokens.refresh_token);
console.log(`Refreshed, for ${await whoIs(fresh.access_token)}.`);
