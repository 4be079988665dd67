import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config-sources.ts';
import { type App, buildApp } from '../../src/http/app.ts';
import { createLog } from '../../src/http/service-log.ts';
import type { Identity } from '../../src/identity/identity.ts';
import type { OAuth } from '../../src/oauth/oauth.ts';
import { assembleParts } from '../../src/parts.ts';

interface ProbeApp {
  readonly app: App;
  readonly identity: Identity;
  readonly oauth: OAuth;
  dispose(): Promise<void>;
}

/** The app as the service builds it, with room for routes that only a test needs. */
export async function openProbeApp(addRoutes: (app: App) => void = () => {}): Promise<ProbeApp> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-probe-'));
  const config = readConfig({ flags: [], environment: { REACTORD_LOG_LEVEL: 'silent' } });
  const log = createLog(config);
  const parts = await assembleParts({ config, environment: {}, dataFolder, log });
  const baseUrl = () => 'http://127.0.0.1:8080';
  const app = await buildApp({ ...parts, config, log, baseUrl });
  addRoutes(app);
  return {
    app,
    identity: parts.identity,
    oauth: parts.oauth,
    dispose: async () => {
      await app.close();
      await parts.stop();
      rmSync(dataFolder, { recursive: true });
    },
  };
}
