// Waits for a browser to come back from a login and prints the answer as variables for a shell:
//   eval "$(node examples/oauth/catch-callback.mjs http://127.0.0.1:9090/callback)"
import { waitForCallback } from './callback.mjs';

const known = [
  'code',
  'state',
  'iss',
  'access_token',
  'token_type',
  'expires_in',
  'error',
  'error_description',
];
const { searchParams } = await waitForCallback(process.argv[2]);
for (const name of known) {
  const value = searchParams.get(name);
  if (value !== null) console.log(`${name}='${value.replaceAll("'", `'\\''`)}'`);
}
