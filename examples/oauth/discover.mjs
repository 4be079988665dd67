import * as openid from 'openid-client';

/** The service as openid-client sees it: it finds all addresses out by itself. */
export function discover() {
  const { SERVICE, KEY, SECRET } = process.env;
  return openid.discovery(new URL(SERVICE), KEY, SECRET, openid.ClientSecretBasic(SECRET), {
    algorithm: 'oauth2',
    // Plain HTTP is for the loopback address only.
    execute: SERVICE.startsWith('http://127.0.0.1') ? [openid.allowInsecureRequests] : [],
  });
}
