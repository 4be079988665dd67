import type { Config } from './config.ts';
import { SettingError } from './config-sources.ts';
import { openDataFolder } from './data-folder.ts';
import { problemOf } from './greeting.ts';
import { createLog } from './http/service-log.ts';
import { buildWorkerApp } from './http/worker-app.ts';
import { assembleParts, startWork } from './parts.ts';
import { addressOf, type Service } from './service.ts';

/**
 * Starts a process that runs executions of a service and serves nothing of its API: one more machine with an engine,
 * on the same PostgreSQL. Whether it is well is asked at its own address.
 */
export async function startWorker(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Service> {
  refuseWhatCannotBeShared(config);
  const log = createLog(config);
  await using started = new AsyncDisposableStack();
  const folder = openDataFolder(config.data);
  started.defer(() => folder.release());
  const parts = await assembleParts({ config, environment, dataFolder: folder.path, log });
  started.defer(() => parts.stop());
  const app = await buildWorkerApp({ ...parts, config, log });
  started.defer(() => app.close());
  const { host, port } = config;
  await app.listen({ host, port, listenTextResolver: () => 'listening' });
  const address = addressOf(app.server.address(), host);
  startWork(parts, undefined);
  folder.announce(address);
  const problem = await problemOf(parts.engine);
  process.stdout.write(
    `\n  reactord works for ${config.base_url}; its health is at ${address}/ready\n\n` +
      (problem === undefined ? '' : `  Reactors cannot run here yet. ${problem}\n\n`),
  );
  const stack = started.move();
  return { address, stop: () => stack.disposeAsync() };
}

function refuseWhatCannotBeShared({ database, base_url }: Config): void {
  if (!/^postgres(ql)?:\/\//i.test(database ?? '')) {
    throw new SettingError(
      'A worker shares its store with a service, and SQLite cannot be shared between machines; set database to the PostgreSQL address that the service uses.',
    );
  }
  if (base_url === undefined) {
    throw new SettingError(
      'A worker must know where its containers reach the service; set base_url to the address of the service.',
    );
  }
}
