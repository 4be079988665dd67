// The implicit flow, by client-oauth2. Needs SERVICE, KEY and CALLBACK, and no secret.
import { randomBytes } from 'node:crypto';
import ClientOAuth2 from 'client-oauth2';
import { waitForCallback } from './callback.mjs';
import { whoIs } from './profile.mjs';

const { SERVICE, KEY, CALLBACK } = process.env;
const auth = new ClientOAuth2({
  clientId: KEY,
  authorizationUri: `${SERVICE}/authorize`,
  redirectUri: CALLBACK,
  scopes: ['PRODUCTION'],
});
const state = randomBytes(16).toString('hex');
console.log(`Open ${auth.token.getUri({ state })}`);

const token = await auth.token.getToken((await waitForCallback(CALLBACK)).href, { state });
console.log(`A token for ${await whoIs(token.accessToken)}, for ${token.data.expires_in} seconds.`);
