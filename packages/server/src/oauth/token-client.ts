import { isBasic, readBasic } from '../contract/basic-credentials.ts';
import type { ClientProofs } from './access-proofs.ts';
import type { Client } from './client.ts';
import { TokenRefusal, unknownClient } from './token-errors.ts';
import type { TokenForm } from './token-form.ts';

type Authenticates = Pick<ClientProofs, 'authenticate' | 'proved' | 'named'>;

/**
 * Who asks at an OAuth endpoint: key and secret by HTTP Basic or in the body, never both (RFC 6749 2.3.1). A public
 * client has no secret, and sends its key in the body.
 */
export async function authenticateClient(
  clients: Authenticates,
  authorization: string | undefined,
  form: TokenForm,
): Promise<Client> {
  const key = form.get('client_id');
  const secret = form.get('client_secret');
  if (authorization === undefined) {
    if (key === undefined) throw unknownClient();
    return known(
      await (secret === undefined ? clients.named(key) : clients.authenticate(key, secret)),
    );
  }
  if (secret !== undefined) {
    throw new TokenRefusal(
      'invalid_request',
      'The client authenticates twice. Send its key and secret either with HTTP Basic or in the body.',
    );
  }
  if (!isBasic(authorization)) throw unknownClient();
  const client = clients.proved(authorization) ?? (await byBasic(clients, authorization));
  // Some libraries repeat the key in the body, which says nothing new.
  if (key !== undefined && key !== client.key)
    throw new TokenRefusal('invalid_request', 'Two different clients are named.');
  return client;
}

/** The RFC wants key and secret form-encoded inside Basic; curl and others send them as they are. Both are taken. */
async function byBasic(clients: Authenticates, authorization: string): Promise<Client> {
  const raw = readBasic(authorization);
  if (raw === undefined) throw unknownClient();
  const key = formDecoded(raw.username);
  const secret = formDecoded(raw.password);
  const decoded =
    key === undefined || secret === undefined
      ? undefined
      : await clients.authenticate(key, secret, authorization);
  if (decoded !== undefined) return decoded;
  if (key === raw.username && secret === raw.password) throw unknownClient();
  return known(await clients.authenticate(raw.username, raw.password));
}

function known(client: Client | undefined): Client {
  if (client === undefined) throw unknownClient();
  return client;
}

function formDecoded(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
