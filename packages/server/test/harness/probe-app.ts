import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../../src/config-sources.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { assembleExecutions } from '../../src/executions/executions-area.ts';
import { LogStore } from '../../src/executions/log-store.ts';
import { type App, buildApp } from '../../src/http/app.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { assembleIdentity, type Identity } from '../../src/identity/identity.ts';
import { assembleOAuth, type OAuth } from '../../src/oauth/oauth.ts';
import { assembleReactors } from '../../src/reactors/reactors-area.ts';
import { openLogDatabase, openStore } from '../../src/store/open.ts';

interface ProbeApp {
  readonly app: App;
  readonly identity: Identity;
  readonly oauth: OAuth;
  dispose(): Promise<void>;
}

/** The app as the service builds it, with room for routes that only a test needs. */
export async function openProbeApp(addRoutes: (app: App) => void = () => {}): Promise<ProbeApp> {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-probe-'));
  const store = await openStore({ database: undefined, dataFolder: folder });
  const config = readConfig({ flags: [], environment: {} });
  const log = pino({ level: 'silent' });
  const identity = assembleIdentity({ store, config, log });
  const oauth = await assembleOAuth({ store, config, identity, log });
  const engine = new DockerEngine({ address: undefined, environment: {} });
  const reactors = await assembleReactors({
    store,
    config,
    changes: identity.changes,
    engine,
    log,
  });
  const executions = await assembleExecutions({
    store,
    logs: new LogStore(await openLogDatabase({ database: undefined, dataFolder: folder })),
    config,
    identity,
    area: reactors,
    engine,
    instance: 'probe',
    log,
  });
  const app = await buildApp({
    config,
    log,
    store,
    identity,
    oauth,
    reactors,
    executions,
    engine,
    metrics: createMetrics(),
    baseUrl: () => 'http://127.0.0.1:8080',
  });
  addRoutes(app);
  return {
    app,
    identity,
    oauth,
    dispose: async () => {
      await app.close();
      await executions.stop();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
