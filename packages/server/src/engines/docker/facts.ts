import type { DockerClient } from './docker-client.ts';
import { Info, read, Version } from './shapes.ts';

/** What the driver has to know of an engine before it can make containers on it. */
export interface EngineFacts {
  readonly isPodman: boolean;
  /** In the engine's words: amd64, arm64 … */
  readonly architecture: string;
  /** Whether it has a first process to put before the image's own. */
  readonly hasInit: boolean;
  /** Keeps output byte for byte; json-file, which every engine has, replaces what is not UTF-8. */
  readonly hasLocalLog: boolean;
  readonly cgroupDriver: 'cgroupfs' | 'systemd' | 'none';
  readonly cgroupVersion: 1 | 2;
}

/** Asks once, and again after the engine was away: it may have come back as another. */
export class Facts {
  readonly #client: DockerClient;
  #known: { readonly losses: number; readonly facts: Promise<EngineFacts> } | undefined;

  constructor(client: DockerClient) {
    this.#client = client;
  }

  get(): Promise<EngineFacts> {
    if (this.#known?.losses !== this.#client.losses) this.#known = undefined;
    this.#known ??= { losses: this.#client.losses, facts: this.#ask() };
    const { facts } = this.#known;
    facts.catch(() => {
      this.#known = undefined;
    });
    return facts;
  }

  async #ask(): Promise<EngineFacts> {
    const [version, info] = await Promise.all([
      this.#client.call('GET', '/version').then((answer) => read(Version, answer, 'its version')),
      this.#client.call('GET', '/info').then((answer) => read(Info, answer, 'itself')),
    ]);
    const components = version.Components ?? [];
    const driver = info.CgroupDriver;
    return {
      isPodman: components.some(({ Name }) => Name.includes('Podman')),
      architecture: version.Arch ?? '',
      hasInit: components.some(({ Name, Version: number }) => Name === 'docker-init' && !!number),
      hasLocalLog: info.Plugins?.Log?.includes('local') ?? false,
      cgroupDriver: driver === 'cgroupfs' || driver === 'systemd' ? driver : 'none',
      cgroupVersion: info.CgroupVersion === '2' ? 2 : 1,
    };
  }
}
