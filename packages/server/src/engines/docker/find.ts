import { existsSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { SettingError } from '../../config-sources.ts';
import { tlsCertificates, usesTls } from './tls.ts';

/** Where a container engine listens. */
export type EngineAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: boolean };

type Environment = Readonly<Record<string, string | undefined>>;

const pingLimitMs = 2000;

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
    if (existsSync(path) && (await isAnswering(address, environment))) return address;
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

/** Resolves to false when the engine does not answer `GET /_ping` with 200 within two seconds. */
export function isAnswering(
  address: EngineAddress,
  environment: Environment = process.env,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // A limit of the whole exchange: `timeout` of a request counts idle time only.
  const signal = AbortSignal.timeout(pingLimitMs);
  try {
    const request = ping(address, environment, signal);
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  } catch {
    // Certificates that cannot be read.
    resolve(false);
  }
  return promise;
}

function ping(address: EngineAddress, environment: Environment, signal: AbortSignal) {
  const path = '/_ping';
  if (address.kind === 'unix') {
    return httpGet({ socketPath: address.path, path, signal, agent: false });
  }
  const { host, port } = address;
  if (!address.tls) return httpGet({ host, port, path, signal, agent: false });
  return httpsGet({ host, port, path, signal, agent: false, ...tlsCertificates(environment) });
}

function readAddress(named: string, environment: Environment): EngineAddress {
  const path = /^unix:\/\/(\/.+)$/.exec(named)?.[1];
  if (path !== undefined) return { kind: 'unix', path };
  const tcp = /^tcp:\/\/(?<host>[\w.-]+|\[[\da-fA-F:]+\])(:(?<port>\d{1,5}))?\/?$/.exec(named);
  const host = tcp?.groups?.['host'];
  if (host === undefined) {
    throw new SettingError(
      `DOCKER_HOST is ${JSON.stringify(named)}, which is not allowed; it takes unix:///path/of/socket or tcp://host:port.`,
    );
  }
  const tls = usesTls(environment);
  const port = Number(tcp?.groups?.['port'] ?? (tls ? 2376 : 2375));
  return { kind: 'tcp', host: host.replace(/^\[|\]$/g, ''), port, tls };
}
