import { describeAddress, type Environment } from './address.ts';
import { DockerClient } from './docker-client.ts';
import { Info, read, Version } from './shapes.ts';

/** What an engine says of itself, for whoever wonders whether it can do its work. */
export interface EngineLook {
  /** `Docker 28.0.1 at unix:///var/run/docker.sock` */
  readonly name: string;
  /** Where it keeps images and containers; only where that is on this machine. */
  readonly folder: string | undefined;
  readonly limitsMemory: boolean;
  readonly limitsCpu: boolean;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number | undefined;
}

/** Throws when the engine does not answer; the sentence says what to do. */
export async function lookAtEngine(
  named: string | undefined,
  environment: Environment,
): Promise<EngineLook> {
  const client = new DockerClient(named, environment);
  try {
    const version = read(Version, await client.call('GET', '/version', quickly), 'its version');
    const asked = Date.now();
    const info = read(Info, await client.call('GET', '/info', quickly), 'itself');
    const between = (asked + Date.now()) / 2;
    const address = await client.address();
    const isPodman = version.Components?.some(({ Name }) => Name.includes('Podman'));
    const at = Date.parse(info.SystemTime ?? '');
    return {
      name: `${isPodman ? 'Podman' : 'Docker'} ${version.Version} at ${describeAddress(address)}`,
      folder: address.kind === 'unix' ? info.DockerRootDir : undefined,
      limitsMemory: info.MemoryLimit ?? true,
      limitsCpu: info.CpuCfsQuota ?? true,
      aheadMs: Number.isNaN(at) ? undefined : at - between,
    };
  } finally {
    client.close();
  }
}

const quickly = { limitMs: 5_000 };
