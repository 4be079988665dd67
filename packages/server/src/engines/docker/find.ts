import { existsSync } from 'node:fs';
import { type EngineAddress, type Environment, readAddress } from './address.ts';
import { callDocker } from './docker-api.ts';

/**
 * The setting wins over DOCKER_HOST, DOCKER_HOST over the usual sockets. What an operator named is returned as it is,
 * answering or not, so that the service never falls back to an engine that nobody meant.
 */
export async function findEngineAddress(
  engine: string | undefined,
  environment: Environment,
): Promise<EngineAddress | undefined> {
  const named = engine ?? environment['DOCKER_HOST'];
  if (named !== undefined && named !== '') return readAddress(named, environment);
  for (const path of usualSockets(environment)) {
    const address: EngineAddress = { kind: 'unix', path };
    if (existsSync(path) && (await isAnswering(address))) return address;
  }
  return undefined;
}

/** Docker's and Podman's sockets: of the machine first, then of the user (rootless). */
export function usualSockets(environment: Environment): readonly string[] {
  const ofUser = environment['XDG_RUNTIME_DIR'];
  return [
    '/var/run/docker.sock',
    '/run/podman/podman.sock',
    ...(ofUser ? [`${ofUser}/docker.sock`, `${ofUser}/podman/podman.sock`] : []),
  ];
}

export async function isAnswering(address: EngineAddress): Promise<boolean> {
  try {
    await callDocker(address, 'GET', '/_ping', 2_000);
    return true;
  } catch {
    return false;
  }
}
