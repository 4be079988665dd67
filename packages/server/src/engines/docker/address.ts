import { SettingError } from '../../config-sources.ts';
import { type TlsCertificates, tlsCertificates, usesTls } from './tls.ts';

/** Where a container engine listens. */
export type EngineAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      readonly tls: TlsCertificates | undefined;
    };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads what an operator wrote: unix:///path or tcp://host:port, with the TLS settings of Docker's own client. */
export function readAddress(named: string, environment: Environment): EngineAddress {
  const path = /^unix:\/\/(\/.+)$/.exec(named)?.[1];
  if (path !== undefined) return { kind: 'unix', path };
  const tcp = /^tcp:\/\/(?<host>[\w.-]+|\[[\da-fA-F:]+\])(:(?<port>\d{1,5}))?\/?$/.exec(named);
  const host = tcp?.groups?.['host'];
  if (host === undefined) {
    throw new SettingError(
      `DOCKER_HOST is ${JSON.stringify(named)}, which is not allowed; it takes unix:///path/of/socket or tcp://host:port.`,
    );
  }
  const tls = usesTls(environment) ? tlsCertificates(environment) : undefined;
  const port = Number(tcp?.groups?.['port'] ?? (tls === undefined ? 2375 : 2376));
  return { kind: 'tcp', host: host.replace(/^\[|\]$/g, ''), port, tls };
}

export function describeAddress(address: EngineAddress): string {
  return address.kind === 'unix'
    ? `unix://${address.path}`
    : `tcp://${address.host}:${address.port}`;
}
