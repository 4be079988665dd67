import { resolve } from 'node:path';
import { type ContainerSpec, EngineRefused } from '../engine.ts';
import type { EngineAddress } from './address.ts';
import type { EngineFacts } from './facts.ts';
import type { Labels } from './labels.ts';

/** Where a container is put: its network, and the control group above it. */
export interface Place {
  readonly networkMode: string;
  /** Not allowed, and not needed, for a container that joins a network. */
  readonly extraHosts: readonly string[];
  readonly cgroupParent: string | undefined;
  /** The socket on this machine that takes what the container sends. */
  readonly sink: string | undefined;
}

/**
 * What root inside a container may still do. These let ordinary images set themselves up and then run as another user:
 * own and read files of any user (CHOWN, DAC_OVERRIDE, FOWNER), become that user (SETUID, SETGID), and stop its processes
 * (KILL). Of Docker's usual ones this leaves out raw packets (NET_RAW), device files (MKNOD), file capabilities (SETFCAP,
 * SETPCAP), another root folder (SYS_CHROOT), the machine's audit log (AUDIT_WRITE), set-id bits kept over a change
 * (FSETID), and low ports (NET_BIND_SERVICE), which are open to everybody in a container since Docker 20.10.
 */
const keptCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID'];

const defaultLogBytes = 10 * 1024 * 1024;

/** Linux takes 128 KiB for one string of the environment, its end included; a container with more cannot start. */
const longestVariable = 128 * 1024 - 1;
/** For all of it, with room left for arguments. */
const largestEnvironment = 1_900_000;

/** How a spare begins: with a program of this machine that waits, and then becomes the image's. */
export interface Waiting {
  readonly program: string;
  readonly path: string;
  /** The image's program and its arguments. */
  readonly becomes: readonly string[];
}

export function containerConfig(
  spec: ContainerSpec,
  place: Place,
  facts: EngineFacts,
  labels: Labels,
  waiting?: Waiting,
): object {
  const { memoryBytes, cpus, processes } = spec.limits;
  const mounts = [...(spec.mounts ?? []), ...sinkMounts(spec, place)];
  if (waiting !== undefined)
    mounts.push({ from: waiting.program, to: waiting.path, readOnly: true });
  return {
    Image: spec.image,
    ...(waiting === undefined ? begins(spec, place) : waits(waiting)),
    Labels: { ...spec.labels, ...labels },
    HostConfig: {
      ...(spec.privileged
        ? { Privileged: true }
        : { CapDrop: ['ALL'], CapAdd: keptCapabilities, SecurityOpt: ['no-new-privileges'] }),
      Memory: memoryBytes,
      // The sum of memory and swap: equal to memory, there is no swap.
      MemorySwap: memoryBytes,
      NanoCpus: Math.round(cpus * 1e9),
      // One is the engine's own first process.
      PidsLimit: processes + (facts.hasInit ? 1 : 0),
      // It reaps orphans, and passes on signals that a program without a handler, as first process, would never get.
      Init: facts.hasInit,
      NetworkMode: place.networkMode,
      ...(place.extraHosts.length > 0 && { ExtraHosts: place.extraHosts }),
      ...(place.cgroupParent !== undefined && { CgroupParent: place.cgroupParent }),
      LogConfig: logConfig(spec.logBytes ?? defaultLogBytes, facts),
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      Mounts: mounts.map(({ from, to, readOnly }) => ({
        Type: 'bind',
        Source: from,
        Target: to,
        ReadOnly: readOnly,
      })),
    },
  };
}

function begins(spec: ContainerSpec, place: Place): object {
  return {
    ...(spec.entrypoint && { Entrypoint: spec.entrypoint }),
    ...(spec.command && { Cmd: spec.command }),
    Env: environmentOf(spec, place),
  };
}

/** Its input ends with the connection over which it is to be given its environment. */
function waits({ path, becomes }: Waiting): object {
  return {
    Entrypoint: [path],
    Cmd: becomes,
    OpenStdin: true,
    StdinOnce: true,
    // Nothing of the image runs before its program does.
    Healthcheck: { Test: ['NONE'] },
  };
}

/**
 * Two files, of which the older is dropped when the newer is full: the newest file's worth always stays. A line costs
 * some 40 bytes more than its text, so a file is twice what has to stay; lines shorter than that keep less.
 */
function logConfig(logBytes: number, facts: EngineFacts): object {
  const sizes = { 'max-size': String(2 * 2 * logBytes), 'max-file': '2' };
  return facts.hasLocalLog
    ? { Type: 'local', Config: { ...sizes, compress: 'false' } }
    : { Type: 'json-file', Config: facts.isPodman ? { 'max-size': sizes['max-size'] } : sizes };
}

/** To send to a socket is no writing to a file: it works, and its mode and its owner stay as they are. */
function sinkMounts({ datagrams }: ContainerSpec, { sink }: Place) {
  if (sink === undefined || datagrams === undefined) return [];
  return datagrams.paths.map((to) => ({ from: sink, to, readOnly: true }));
}

export function environmentOf(
  spec: Pick<ContainerSpec, 'name' | 'environment' | 'datagrams'>,
  { sink }: Pick<Place, 'sink'>,
): readonly string[] {
  const { name, datagrams } = spec;
  const told = sink === undefined ? {} : datagrams?.environment;
  const environment = { ...spec.environment, ...told };
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  let sum = 0;
  for (const variable of variables) {
    const length = Buffer.byteLength(variable);
    sum += length + 1;
    // The engine would make it, and its program would seem to fail.
    if (length > longestVariable || sum > largestEnvironment)
      throw new EngineRefused(
        `The container ${name} cannot have ${variable.split('=', 1)[0]} in its environment: ` +
          `it has ${length} bytes, and ${length > longestVariable ? `one variable can have ${longestVariable}` : `all together can have ${largestEnvironment}`}. Hand it over as a file.`,
      );
  }
  return variables;
}

/** Whoever has the engine's socket has the machine. */
export function refuseEngineSocket(
  spec: Pick<ContainerSpec, 'name' | 'mounts'>,
  address: EngineAddress,
): void {
  const sockets = ['/var/run/docker.sock', '/run/docker.sock', '/run/podman/podman.sock'];
  if (address.kind === 'unix') sockets.push(resolve(address.path));
  for (const { from } of spec.mounts ?? []) {
    const folder = resolve(from).replace(/\/$/, '');
    if (sockets.some((socket) => socket === folder || socket.startsWith(`${folder}/`)))
      throw new EngineRefused(
        `The container ${spec.name} cannot see ${from}: the container engine's socket is there.`,
      );
  }
}
