import { existsSync } from 'node:fs';
import { createServer, isIPv4 } from 'node:net';
import type { DockerClient } from './docker-client.ts';
import type { Facts } from './facts.ts';
import { DockerRefusal, isRefusal, refused } from './failures.ts';
import { roleLabel } from './labels.ts';
import { type Network, Networks, read } from './shapes.ts';

export interface Bridge {
  readonly id: string;
  /** The engine machine's own address on it. */
  readonly gateway: string | undefined;
  /** Whether that machine is this one. */
  readonly isLocal: boolean;
}

/**
 * The bridge network on which containers reach the world and this machine, but not each other. All services of an engine
 * share one: it keeps containers apart anyway, and an engine has room for about thirty networks.
 */
export class ContainerNetwork {
  readonly #client: DockerClient;
  readonly #facts: Facts;
  readonly #name: string;
  #bridge: { readonly losses: number; readonly made: Promise<Bridge> } | undefined;
  /** What it was last, so that one that has to be made again has the address that somebody listens at. */
  #range: { readonly Subnet: string; readonly Gateway: string } | undefined;

  constructor(client: DockerClient, facts: Facts, name: string) {
    this.#client = client;
    this.#facts = facts;
    this.#name = name;
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

  /** No error when it is gone, or in use by another service. */
  async remove(): Promise<void> {
    this.forget();
    for (const { Id } of await this.#list()) await this.#removeOne(Id);
  }

  async #findOrMake(): Promise<Bridge> {
    try {
      const [found] = await this.#list();
      if (found !== undefined) return await this.#read(found);
      await this.#make();
      // Two services may have made one each in the same moment; all take the same, and the other goes.
      const [first, ...others] = await this.#list();
      for (const { Id } of others) await this.#removeOne(Id);
      if (first === undefined) throw new DockerRefusal(404, 'it was removed at once');
      return await this.#read(first);
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, 'make a network') : error;
    }
  }

  /** Those of this name, the oldest first. */
  async #list(): Promise<readonly Network[]> {
    const filters = JSON.stringify({ name: [`^${this.#name}$`] });
    const answer = await this.#client.call('GET', '/networks', { query: { filters } });
    const found = read(Networks, answer, 'networks').filter(({ Name }) => Name === this.#name);
    if (found.some(({ Labels }) => Labels?.[roleLabel] !== 'network'))
      throw new DockerRefusal(409, `the network ${this.#name} was made by somebody else`);
    const age = ({ Created, Id }: Network): string => `${Created ?? ''} ${Id}`;
    return found.toSorted((one, other) => (age(one) < age(other) ? -1 : 1));
  }

  async #read({ Id, IPAM }: Network): Promise<Bridge> {
    const range = IPAM.Config?.find(({ Gateway }) => isIPv4(Gateway?.split('/')[0] ?? ''));
    const gateway = range?.Gateway?.split('/')[0];
    if (gateway === undefined) return { id: Id, gateway, isLocal: false };
    if (range?.Subnet !== undefined) this.#range = { Subnet: range.Subnet, Gateway: gateway };
    return { id: Id, gateway, isLocal: await this.#isOurs(Id, gateway) };
  }

  async #make(): Promise<void> {
    const body = {
      Name: this.#name,
      Driver: 'bridge',
      CheckDuplicate: true,
      Labels: { [roleLabel]: 'network' },
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
    };
    const ask = (range: object): Promise<unknown> =>
      this.#client.call('POST', '/networks/create', { body: { ...body, ...range } });
    try {
      const range = this.#range;
      if (range === undefined) await ask({});
      // Somebody else may have got the range meanwhile.
      else await ask({ IPAM: { Config: [range] } }).catch(() => ask({}));
    } catch (error) {
      // Another process was quicker.
      if (!isRefusal(error, 409)) throw error;
    }
  }

  async #removeOne(id: string): Promise<void> {
    try {
      await this.#client.call('DELETE', `/networks/${id}`);
    } catch (error) {
      if (!isRefusal(error, 403, 404, 409)) throw error;
    }
  }

  /** Another machine, and another network namespace of this one, may well use the same private addresses. */
  async #isOurs(id: string, gateway: string): Promise<boolean> {
    const address = await this.#client.address();
    const isNear = address.kind === 'unix' || /^(localhost|127\.|::1$)/.test(address.host);
    if (!isNear || !(await canListenAt(gateway))) return false;
    // Docker names the bridge after the network; Podman numbers its own.
    const { isPodman } = await this.#facts.get();
    return isPodman || existsSync(`/sys/class/net/br-${id.slice(0, 12)}`);
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
