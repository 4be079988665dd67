import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../packages/server/src/config-sources.ts';
import { buildApp } from '../packages/server/src/http/app.ts';
import { createMetrics } from '../packages/server/src/http/metrics.ts';
import { createLog } from '../packages/server/src/http/service-log.ts';
import { AccessControl } from '../packages/server/src/oauth/access-control.ts';
import { clientFlows } from '../packages/server/src/oauth/client.ts';
import { hashSecret, newSecret } from '../packages/server/src/oauth/secret-format.ts';
import { insertAccessToken } from '../packages/server/src/oauth/token-rows.ts';
import { assembleParts } from '../packages/server/src/parts.ts';
import type { Store } from '../packages/server/src/store/store.ts';

/** The service with two routes more, and as many live tokens as wanted in its store. */
export interface ServerWish {
  readonly tokens: number;
  /** How many of them, spread evenly, the load will use. */
  readonly used: number;
}

export interface ServerReady {
  readonly url: string;
  /** The same store, behind a door that remembers no token, so that each check asks the store. */
  readonly forgetfulUrl: string;
  readonly key: string;
  readonly secret: string;
  readonly tokens: readonly string[];
}

const users = 100;
const perUnit = 1_000;

process.once('message', async (wish: ServerWish) => {
  process.send?.(await serve(wish));
});

async function serve(wish: ServerWish): Promise<ServerReady> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-bench-'));
  process.once('disconnect', () => {
    rmSync(dataFolder, { recursive: true });
    process.exit();
  });
  // The peer writes no line per request, so neither do we.
  const config = readConfig({ flags: [], environment: { REACTORD_LOG_LEVEL: 'warn' } });
  const log = createLog(config);
  const parts = await assembleParts({ config, environment: {}, dataFolder, log });
  const { store, identity, oauth } = parts;
  const listen = async (access: AccessControl): Promise<string> => {
    const baseUrl = () => 'http://127.0.0.1';
    // Two apps in one process: each counts for itself.
    const own = { metrics: createMetrics(), oauth: { ...oauth, access } };
    const app = await buildApp({ ...parts, ...own, config, log, baseUrl });
    const answer = async () => ({ username: 'somebody', email: 'somebody@example.org' });
    app.get('/open', { config: { answer: 'bare' } }, answer);
    app.get('/checked', { config: { answer: 'bare', access: { api: 'Profiles' } } }, answer);
    return app.listen({ host: '127.0.0.1', port: 0 });
  };
  const owners = [];
  for (let made = 0; made < users; made += 1) {
    const password = 'a password of some length';
    const owner = await identity.users.create({ username: `user-${made}`, password });
    const fields = {
      description: '',
      callbackUrls: [],
      tier: 'Unlimited',
      flows: new Set(clientFlows),
      requirePkce: false,
    } as const;
    owners.push({ owner, ...(await oauth.clients.create(owner, 'app', fields)) });
  }
  const tokens = await fill(
    store,
    owners.map(({ owner, client }) => ({ userId: owner.id, clientId: client.id })),
    wish,
  );
  identity.start();
  const url = await listen(oauth.access);
  const forgetfulUrl = await listen(new AccessControl({ ...oauth, ...identity, mostTokens: 1 }));
  const [first] = owners;
  if (first === undefined) throw new Error('no client was made');
  return { url, forgetfulUrl, key: first.client.key, secret: first.secret, tokens };
}

/** Puts the tokens into the store, and keeps those that will be used. */
async function fill(
  store: Store,
  owners: readonly { readonly userId: string; readonly clientId: string }[],
  { tokens, used }: ServerWish,
): Promise<readonly string[]> {
  const kept: string[] = [];
  const everyNth = Math.max(1, Math.floor(tokens / used));
  const now = Date.now();
  for (let made = 0; made < tokens; made += perUnit) {
    const unit = [];
    for (let place = made; place < Math.min(made + perUnit, tokens); place += 1) {
      const token = newSecret('accessToken');
      if (place % everyNth === 0) kept.push(token);
      const owner = owners[place % owners.length];
      if (owner === undefined) throw new Error('no owner was made');
      unit.push(
        insertAccessToken({
          hash: hashSecret(token),
          authorizationId: null,
          ...owner,
          flow: 'client_credentials',
          scope: 'PRODUCTION',
          now,
          expiresAt: now + 14_400_000,
        }),
      );
    }
    await store.write(...unit);
  }
  return kept;
}
