// The password flow, by simple-oauth2. Needs SERVICE, KEY, SECRET and PASSWORD.
import { ResourceOwnerPassword } from 'simple-oauth2';
import { whoIs } from './profile.mjs';

const { SERVICE, KEY, SECRET, PASSWORD } = process.env;
const flow = new ResourceOwnerPassword({
  client: { id: KEY, secret: SECRET },
  auth: { tokenHost: SERVICE, tokenPath: '/token' },
});
const token = await flow.getToken({ username: 'admin', password: PASSWORD, scope: 'PRODUCTION' });
console.log(`A token for ${await whoIs(token.token.access_token)}.`);

const fresh = await token.refresh({ scope: 'PRODUCTION' });
console.log(`Refreshed, for ${await whoIs(fresh.token.access_token)}.`);
