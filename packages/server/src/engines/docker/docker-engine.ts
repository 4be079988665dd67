import {
  type ContainerEnd,
  type ContainerOutput,
  type ContainerSpec,
  type ContainerSummary,
  type Engine,
  EngineRefused,
  type HandedFile,
  type Image,
  type PullOptions,
  type SentDatagrams,
  type Spare,
  type SpareSpec,
  type Usage,
} from '../engine.ts';
import { describeAddress, type Environment } from './address.ts';
import {
  containerConfig,
  type Place,
  refuseEngineSocket,
  type Waiting,
} from './container-config.ts';
import { Containers } from './containers.ts';
import { DockerClient } from './docker-client.ts';
import { endOf } from './end.ts';
import { Exits } from './exits.ts';
import { Facts } from './facts.ts';
import { DockerRefusal, onContainer, refused } from './failures.ts';
import { removeHolderImage } from './holder-image.ts';
import { type HolderLimits, Holders } from './holders.ts';
import { Images } from './images.ts';
import { type Labels, ownerLabel, ownLabels, spareLabel } from './labels.ts';
import { ContainerNetwork } from './network.ts';
import { Outputs } from './output.ts';
import { Places } from './places.ts';
import { SpooledDatagrams } from './sent-datagrams.ts';
import { read, Version } from './shapes.ts';
import { Spares } from './spares.ts';
import { type SpoolOptions, Spools } from './spools.ts';
import { tarOf } from './tar.ts';

export interface DockerEngineOptions {
  /** The `engine` setting. */
  readonly address: string | undefined;
  readonly environment: Environment;
  /** Names everything the driver makes on the engine. No two processes use the same at the same time. */
  readonly owner?: string;
  /** The network that all services of the engine share, if it is to have another name. */
  readonly network?: string;
  readonly holders?: HolderLimits;
  /** Where what containers send is kept until it is read. Without it they have no socket to send to. */
  readonly spools?: SpoolOptions;
  /** A folder for a program that containers see. Without it there are no spares. */
  readonly programs?: string;
}

/** Docker, or Podman by its Docker-compatible socket. An engine that comes later, or comes back, is found. */
export class DockerEngine implements Engine {
  readonly #owner: string;
  readonly #client: DockerClient;
  readonly #facts: Facts;
  readonly #images: Images;
  readonly #containers: Containers;
  readonly #exits: Exits;
  readonly #outputs: Outputs;
  readonly #network: ContainerNetwork;
  readonly #holders: Holders;
  readonly #places: Places;
  readonly #spools: Spools;
  readonly #spares: Spares;

  constructor(options: DockerEngineOptions) {
    const owner = options.owner ?? 'reactord';
    const client = new DockerClient(options.address, options.environment);
    const facts = new Facts(client);
    const network = new ContainerNetwork(client, facts, options.network ?? 'reactord');
    const limits = options.holders ?? { ready: 2, idle: 8, idleMs: 300_000 };
    const spools = new Spools(options.spools);
    const holders = new Holders({ client, facts, network, spools, owner, limits });
    const containers = new Containers(client);
    this.#owner = owner;
    this.#client = client;
    this.#facts = facts;
    this.#images = new Images(client);
    this.#containers = containers;
    this.#exits = new Exits(client);
    this.#outputs = new Outputs(client, this.#exits);
    this.#network = network;
    this.#holders = holders;
    this.#places = new Places({ client, facts, network, holders, spools, containers, owner });
    this.#spools = spools;
    this.#spares = new Spares({
      client,
      facts,
      network,
      containers,
      images: this.#images,
      places: this.#places,
      exits: this.#exits,
      outputs: this.#outputs,
      folder: options.programs,
      create: (spec, waiting) => this.#make({ ...spec, environment: {} }, waiting),
      remove: (id) => this.remove(id),
    });
  }

  async ping(): Promise<string> {
    const answer = await this.#client.call('GET', '/version', { limitMs: 3_000 });
    const { Version: number, Components } = read(Version, answer, 'its version');
    const isPodman = Components?.some(({ Name }) => Name.includes('Podman'));
    const address = describeAddress(await this.#client.address());
    return `${isPodman ? 'Podman' : 'Docker'} ${number} at ${address}`;
  }

  async prepare(): Promise<void> {
    try {
      await this.#holders.prepare();
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, 'make a network place') : error;
    }
  }

  async gatewayAddress(): Promise<string | undefined> {
    const { gateway, isLocal } = await this.#network.get();
    return isLocal ? gateway : undefined;
  }

  pull(reference: string, options?: PullOptions): Promise<Image> {
    return this.#images.pull(reference, options);
  }

  findImage(reference: string): Promise<Image | undefined> {
    return this.#images.find(reference);
  }

  async create(spec: ContainerSpec): Promise<{ readonly id: string; readonly adopted: boolean }> {
    try {
      const { id, adopted } = await this.#make(spec);
      return { id, adopted };
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, `make ${spec.name}`) : error;
    }
  }

  async spare(spec: SpareSpec): Promise<Spare | undefined> {
    try {
      return await this.#spares.make(spec);
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, `make ${spec.name}`) : error;
    }
  }

  begun(id: string): Promise<string | undefined> {
    return this.#spares.begun(id);
  }

  async handOver(id: string, files: readonly HandedFile[]): Promise<void> {
    await onContainer(id, 'take files', () =>
      this.#client.call('PUT', `/containers/${id}/archive`, {
        query: { path: '/' },
        upload: tarOf(files),
        limitMs: 300_000,
      }),
    );
  }

  attach(id: string): Promise<ContainerOutput> {
    return this.#outputs.attach(id);
  }

  async replay(id: string): Promise<ContainerOutput> {
    return this.#outputs.replay(id, await this.#spares.saidBy(id));
  }

  async start(id: string): Promise<void> {
    await onContainer(id, 'start a container', async () => {
      const found = await this.#containers.find(id);
      // Docker would run one that has ended a second time: an answer that was lost must not cause that.
      if (found !== undefined && found.State.Status !== 'created') return;
      await this.#holders.revive(id);
      await this.#containers.start(id);
    });
    await this.#places.begin(id);
  }

  async ended(id: string): Promise<ContainerEnd> {
    const state = await this.#exits.watch(id).state;
    // Docker notices it or not, also when the program lived through the end of a child.
    const outOfMemory = state.OOMKilled || (await this.#places.ranOutOfMemory(id));
    return endOf(state, outOfMemory, this.#spares.begunAt(id));
  }

  stop(id: string, graceSeconds: number): Promise<void> {
    return this.#containers.stop(id, graceSeconds);
  }

  async remove(id: string): Promise<void> {
    await this.#places.clear(id, () => this.#containers.remove(id));
    this.#exits.gone(id);
    this.#spares.forget(id);
  }

  async sent(id: string): Promise<SentDatagrams | undefined> {
    const holder = await this.#holders.of(id);
    if (holder === undefined || !(await this.#spools.gathers(holder.name))) return undefined;
    const spool = this.#spools.fileOf(holder.name, 'spool');
    if (spool === undefined) return undefined;
    return new SpooledDatagrams(spool, () => this.#spools.ring(holder.name));
  }

  usage(id: string): Promise<Usage | undefined> {
    return this.#places.usage(id);
  }

  list(labels: Labels): Promise<readonly ContainerSummary[]> {
    return this.#containers.list(labels);
  }

  async tidy(): Promise<void> {
    await this.#holders.tidy();
    const own = await this.list(ownLabels(this.#owner, 'container'));
    await this.#places.tidy(new Set(own.map(({ name }) => name)));
  }

  async removeLeftovers(labels: Labels): Promise<void> {
    const own = ownLabels(this.#owner, 'container');
    for (const { id } of await this.list({ ...labels, ...own })) await this.remove(id);
    await this.tidy();
    if ((await this.list(own)).length > 0) return;
    await this.#holders.empty();
    await this.#network.remove();
    await removeHolderImage(this.#client);
  }

  async close(): Promise<void> {
    this.#exits.close();
    this.#places.close();
    this.#spares.close();
    // An engine that is away keeps what it has; the next start of the service finds it.
    await this.#holders.close().catch(() => {});
    this.#client.close();
  }

  /** `waiting`: how it begins, when it is a spare. */
  async #make(
    spec: ContainerSpec,
    waiting?: Waiting,
  ): Promise<{ readonly id: string; readonly adopted: boolean; readonly place: Place }> {
    refuseEngineSocket(spec, await this.#client.address());
    const facts = await this.#facts.get();
    const taken = await this.#places.take(spec);
    const { place } = taken;
    try {
      const labels = { ...taken.labels, ...(waiting !== undefined && { [spareLabel]: '1' }) };
      const config = containerConfig(spec, place, facts, labels, waiting);
      const made = await this.#containers.create(spec.name, spec.image, config);
      if (made.adopted) this.#places.rejoin(made.id, await this.#ownAlready(spec.name), taken);
      else this.#places.settle(made.id, taken);
      return { ...made, place };
    } finally {
      await this.#places.giveBack(taken);
    }
  }

  /** The network that a container of this name has, which must be ours. */
  async #ownAlready(name: string): Promise<string> {
    const found = await this.#containers.find(name);
    if (found?.Config.Labels?.[ownerLabel] === this.#owner) return found.HostConfig.NetworkMode;
    throw new EngineRefused(`There is a container ${name} already, which somebody else made.`);
  }
}
