import { createServer, isIPv4 } from 'node:net';
import type { DockerClient } from './docker-client.ts';
import { DockerRefusal, isRefusal, refused } from './failures.ts';
import { ownerLabel, ownLabels } from './labels.ts';
import { Created, Network, read } from './shapes.ts';

export interface Bridge {
  readonly id: string;
  /** The engine machine's own address on it. */
  readonly gateway: string | undefined;
  /** Whether that machine is this one. */
  readonly isLocal: boolean;
}

/** The service's own bridge network, on which containers reach the world and this machine, but not each other. */
export class ContainerNetwork {
  readonly #client: DockerClient;
  readonly #owner: string;
  #bridge: { readonly losses: number; readonly made: Promise<Bridge> } | undefined;

  constructor(client: DockerClient, owner: string) {
    this.#client = client;
    this.#owner = owner;
  }

  /** Makes it where it is missing. */
  get(): Promise<Bridge> {
    if (this.#bridge?.losses !== this.#client.losses) this.forget();
    this.#bridge ??= { losses: this.#client.losses, made: this.#findOrMake() };
    const { made } = this.#bridge;
    made.catch(() => this.forget());
    return made;
  }

  /** To be called when the engine says that there is no such network: somebody removed it. */
  forget(): void {
    this.#bridge = undefined;
  }

  /** No error when it is gone or still in use. */
  async remove(): Promise<void> {
    this.forget();
    try {
      await this.#client.call('DELETE', `/networks/${this.#owner}`);
    } catch (error) {
      if (!isRefusal(error, 403, 404, 409)) throw error;
    }
  }

  async #findOrMake(): Promise<Bridge> {
    try {
      const id = (await this.#find())?.id ?? (await this.#make());
      const found = await this.#find();
      return found ?? { id, gateway: undefined, isLocal: false };
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, 'make a network') : error;
    }
  }

  async #find(): Promise<Bridge | undefined> {
    try {
      const answer = await this.#client.call('GET', `/networks/${this.#owner}`);
      const { Id, IPAM, Labels } = read(Network, answer, 'a network');
      if (Labels?.[ownerLabel] !== this.#owner)
        throw new DockerRefusal(409, `the network ${this.#owner} was made by somebody else`);
      const gateway = IPAM.Config?.map((config) => config.Gateway?.split('/')[0]).find(
        (address) => address !== undefined && isIPv4(address),
      );
      return { id: Id, gateway, isLocal: gateway !== undefined && (await this.#isOurs(gateway)) };
    } catch (error) {
      if (isRefusal(error, 404)) return undefined;
      throw error;
    }
  }

  async #make(): Promise<string> {
    const answer = await this.#client
      .call('POST', '/networks/create', {
        body: {
          Name: this.#owner,
          Driver: 'bridge',
          CheckDuplicate: true,
          Labels: ownLabels(this.#owner, 'network'),
          Options: { 'com.docker.network.bridge.enable_icc': 'false' },
        },
      })
      .catch((error: unknown) => {
        // Another process was quicker.
        if (isRefusal(error, 409)) return { Id: this.#owner };
        throw error;
      });
    return read(Created, answer, 'a new network').Id;
  }

  /** An engine elsewhere may use the same private addresses as this machine: only a local connection proves anything. */
  async #isOurs(gateway: string): Promise<boolean> {
    const address = await this.#client.address();
    const isNear = address.kind === 'unix' || /^(localhost|127\.|::1$)/.test(address.host);
    return isNear && (await canListenAt(gateway));
  }
}

/** The list of this machine's addresses lacks those of a bridge that no container is on yet. */
function canListenAt(host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen({ host, port: 0 }, () => server.close(() => resolve(true)));
  return promise;
}
