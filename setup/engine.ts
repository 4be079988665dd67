import { accessSync, constants, existsSync } from 'node:fs';
import { readConfig, SettingError } from '../packages/server/src/config-sources.ts';
import type { EngineAddress } from '../packages/server/src/engines/docker/address.ts';
import { callDocker } from '../packages/server/src/engines/docker/docker-api.ts';
import { findEngineAddress, usualSockets } from '../packages/server/src/engines/docker/find.ts';
import { say } from './say.ts';

/** Finds a container engine or, where that is possible, installs and starts one. Throws SetupError when it cannot. */
export async function provideEngine(engine: string | undefined): Promise<EngineAddress> {
  const found = await findEngineAddress(engine, process.env);
  if (found !== undefined) return found;
  // Loaded only here: most starts find an engine and should not pay for the rest.
  const { installDocker, startDocker } = await import('./docker.ts');
  const closed = closedSocket();
  if (closed !== undefined) {
    throw new Error(
      `This user may not open ${closed}; join the group that owns it (usermod -aG docker NAME), or name another engine in DOCKER_HOST.`,
    );
  }
  await installDocker();
  return startDocker();
}

/** A socket that is there and that this user may not open: the usual reason why a running engine is not found. */
function closedSocket(): string | undefined {
  return usualSockets(process.env).find((path) => {
    if (!existsSync(path)) return false;
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
      return false;
    } catch {
      return true;
    }
  });
}

async function hasHello(address: EngineAddress): Promise<boolean> {
  return callDocker(address, 'GET', '/images/reactord/hello/json').then(
    () => true,
    () => false,
  );
}

async function main(flags: readonly string[]): Promise<void> {
  try {
    const { engine } = readConfig({ flags, environment: process.env });
    const address = await provideEngine(engine);
    if (await hasHello(address)) return;
    const { offerHello } = await import('./hello.ts');
    await offerHello(address);
  } catch (error) {
    // A wrong setting is left to the service, which comes next and says which.
    if (error instanceof SettingError) return;
    say(
      `${error instanceof Error ? error.message : String(error)} The service starts without one.`,
    );
  }
}

if (import.meta.main) {
  await main(process.argv.slice(2));
  // Whatever an engine still owes an answer to does not hold up the start.
  process.exit();
}
