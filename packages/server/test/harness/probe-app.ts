import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../../src/config-sources.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { type App, buildApp } from '../../src/http/app.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { assembleIdentity } from '../../src/identity/identity.ts';
import { assembleOAuth } from '../../src/oauth/oauth.ts';
import { assembleReactors } from '../../src/reactors/reactors-area.ts';
import { openStore } from '../../src/store/open.ts';

/** The app as the service builds it, with room for routes that only a test needs. */
export async function openProbeApp(): Promise<{ app: App; dispose(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-probe-'));
  const store = await openStore({ database: undefined, dataFolder: folder });
  const config = readConfig({ flags: [], environment: {} });
  const log = pino({ level: 'silent' });
  const identity = assembleIdentity({ store, config, log });
  const engine = new DockerEngine({ address: undefined, environment: {} });
  const app = await buildApp({
    config,
    log,
    store,
    identity,
    oauth: await assembleOAuth({ store, config, identity, log }),
    reactors: await assembleReactors({ store, config, changes: identity.changes, engine, log }),
    engine,
    metrics: createMetrics(),
    baseUrl: () => 'http://127.0.0.1:8080',
  });
  return {
    app,
    dispose: async () => {
      await app.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
