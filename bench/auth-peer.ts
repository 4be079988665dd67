import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** oidc-provider with its own store in memory, as it comes, granting client credentials. */
const provider = new Provider('http://127.0.0.1', {
  clients: [
    {
      client_id: 'bench',
      client_secret: 'a-secret-of-some-length-for-the-bench',
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    },
  ],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
});

const server = provider.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({
    url: `http://127.0.0.1:${port}`,
    key: 'bench',
    secret: 'a-secret-of-some-length-for-the-bench',
  });
});

process.once('disconnect', () => process.exit());
