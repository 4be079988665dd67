// The client credentials flow, by simple-oauth2. Needs SERVICE, KEY and SECRET.
import { ClientCredentials } from 'simple-oauth2';
import { whoIs } from './profile.mjs';

const { SERVICE, KEY, SECRET } = process.env;
const flow = new ClientCredentials({
  client: { id: KEY, secret: SECRET },
  auth: { tokenHost: SERVICE, tokenPath: '/token' },
});
const token = await flow.getToken({});
console.log(`A token for ${await whoIs(token.token.access_token)}.`);
