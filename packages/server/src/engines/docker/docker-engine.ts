import { type Engine, EngineUnavailable } from '../engine.ts';
import { callDocker, describeAddress } from './docker-api.ts';
import { type EngineAddress, findEngineAddress } from './find.ts';

export interface DockerEngineOptions {
  /** The `engine` setting. */
  readonly address: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
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
      const reply = await callDocker(address, this.#options.environment, 'GET', '/version');
      return `${describeVersion(reply)} at ${describeAddress(address)}`;
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

function describeVersion(reply: unknown): string {
  if (typeof reply !== 'object' || reply === null) return 'an engine';
  const version = 'Version' in reply ? String(reply.Version) : 'of unknown version';
  const components = 'Components' in reply ? JSON.stringify(reply.Components) : '';
  return `${components.includes('Podman') ? 'Podman' : 'Docker'} ${version}`;
}
