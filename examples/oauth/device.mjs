// The device flow, by openid-client: for programs without a browser. Needs SERVICE, KEY and SECRET.
import * as openid from 'openid-client';
import { discover } from './discover.mjs';
import { whoIs } from './profile.mjs';

const config = await discover();
const device = await openid.initiateDeviceAuthorization(config, { scope: 'PRODUCTION' });
console.log(`Open ${device.verification_uri_complete} and compare the code ${device.user_code}.`);

const tokens = await openid.pollDeviceAuthorizationGrant(config, device);
console.log(`A token for ${await whoIs(tokens.access_token)}.`);
