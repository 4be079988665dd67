import type { DatagramSocket, HandedFile } from '../engines/engine.ts';
import { assertionHeader } from '../oauth/assertion.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { longestVariable } from '../reactors/variable-names.ts';
import type { Execution } from './execution.ts';

const prefix = '_svc_';

export interface HandOver {
  readonly environment: Readonly<Record<string, string>>;
  readonly files: readonly HandedFile[];
  /** Where it may send its results. */
  readonly datagrams: DatagramSocket;
}

export interface HandOverParts {
  readonly reactor: Reactor;
  readonly execution: Execution;
  readonly message: Uint8Array;
  /** The reactor's state as JSON; undefined where it has none. */
  readonly state: string | undefined;
  /** Empty where the reactor wants none. */
  readonly token: string;
  readonly configs: Readonly<Record<string, string>>;
  readonly apiServer: string;
  readonly tenant: string;
  /** Under which every variable of the service is repeated. */
  readonly secondPrefix: string | undefined;
}

/**
 * What a container is given: the reactor's default environment, what the message's request set, configs, the message, and what
 * the service says about the execution, the later over the earlier. A message that cannot be a variable is a file.
 */
export function handOver(parts: HandOverParts): HandOver {
  const { reactor, execution, message, secondPrefix } = parts;
  const asFile = mustBeFile(execution, message);
  const said = saidByService(parts, asFile);
  const prefixes = prefixesWith(secondPrefix);
  return {
    environment: {
      ...reactor.environment,
      ...execution.environment,
      ...allConfigs(parts.configs),
      ...(secondPrefix !== undefined && underSecond(secondPrefix, execution.environment)),
      ...(!asFile && { MSG: Buffer.from(message).toString() }),
      ...prefixed(prefix, said),
      ...(secondPrefix !== undefined && prefixed(secondPrefix, said)),
    },
    files: asFile
      ? prefixes.map((each) => ({ path: fileOf(each), mode: 0o644, content: message }))
      : [],
    datagrams: datagramSocket(secondPrefix),
  };
}

/** The same for every execution. */
export function datagramSocket(secondPrefix: string | undefined): DatagramSocket {
  const prefixes = prefixesWith(secondPrefix);
  return {
    paths: prefixes.map(socketOf),
    environment: Object.fromEntries(
      prefixes.map((each) => [`${each}results_socket`, socketOf(each)]),
    ),
  };
}

const prefixesWith = (secondPrefix: string | undefined): readonly string[] =>
  secondPrefix === undefined ? [prefix] : [prefix, secondPrefix];

/** One variable each, so that no sender replaces them, and together as JSON as long as Linux takes that. */
function allConfigs(configs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const together = JSON.stringify(configs);
  const fits = Buffer.byteLength(together) + 64 < longestVariable;
  return { ...configs, ...(fits && { _actor_configs: together }) };
}

/** Bytes, what is too long for Linux, and text with NUL, at which a variable would end. */
function mustBeFile({ contentType }: Execution, message: Uint8Array): boolean {
  return (
    contentType === 'application/octet-stream' ||
    'MSG='.length + message.byteLength + 1 > longestVariable ||
    message.includes(0)
  );
}

const fileOf = (somePrefix: string): string => `/${somePrefix}binary_data`;
const socketOf = (somePrefix: string): string => `/${somePrefix}results.sock`;

function saidByService(
  { reactor, execution, state, token, apiServer, tenant }: HandOverParts,
  asFile: boolean,
): Readonly<Record<string, string>> {
  return {
    actor_id: reactor.id,
    actor_dbid: `${tenant}_${reactor.id}`,
    actor_name: reactor.name ?? '',
    actor_revision: String(execution.revision ?? reactor.revision),
    actor_state: state ?? '{}',
    container_repo: reactor.image,
    worker_id: execution.workerId ?? '',
    execution_id: execution.id,
    attempt: String(execution.attempt),
    access_token: token,
    api_server: apiServer,
    Content_Type: execution.contentType,
    jwt_header_name: assertionHeader(tenant),
    username: execution.executor,
    ...(asFile && { message_file: fileOf(prefix) }),
  };
}

/** What the service itself has put beside the message: the attributes of an event. */
function underSecond(
  secondPrefix: string,
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const own = Object.entries(environment).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(
    own.map(([name, value]) => [`${secondPrefix}${name.slice(prefix.length)}`, value]),
  );
}

function prefixed(
  somePrefix: string,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [`${somePrefix}${name}`, value]),
  );
}
