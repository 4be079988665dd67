import { type Engine, EngineUnavailable } from '../engine.ts';
import { describeAddress, type EngineAddress, type Environment } from './address.ts';
import { callDocker } from './docker-api.ts';
import { findEngineAddress } from './find.ts';

export interface DockerEngineOptions {
  /** The `engine` setting. */
  readonly address: string | undefined;
  readonly environment: Environment;
}

/** Docker, or Podman by its Docker-compatible socket. An engine that comes later, or comes back, is found. */
export class DockerEngine implements Engine {
  readonly #options: DockerEngineOptions;
  #address: EngineAddress | undefined;

  constructor(options: DockerEngineOptions) {
    this.#options = options;
  }

  async ping(): Promise<string> {
    const address = await this.#find();
    try {
      const version: unknown = JSON.parse(await callDocker(address, 'GET', '/version'));
      return `${describeVersion(version)} at ${describeAddress(address)}`;
    } catch (error) {
      this.#address = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      throw new EngineUnavailable(
        `The container engine at ${describeAddress(address)} does not answer (${reason}): start it, or set DOCKER_HOST to one that runs.`,
      );
    }
  }

  async #find(): Promise<EngineAddress> {
    this.#address ??= await findEngineAddress(this.#options.address, this.#options.environment);
    if (this.#address === undefined) {
      throw new EngineUnavailable(
        'No container engine was found: install Docker (on Debian: apt-get install docker.io) and start it, or set DOCKER_HOST.',
      );
    }
    return this.#address;
  }
}

function describeVersion(version: unknown): string {
  if (typeof version !== 'object' || version === null) return 'An engine of unknown version';
  const number = 'Version' in version ? String(version.Version) : 'of unknown version';
  const components = 'Components' in version ? JSON.stringify(version.Components) : '';
  return `${components.includes('Podman') ? 'Podman' : 'Docker'} ${number}`;
}
