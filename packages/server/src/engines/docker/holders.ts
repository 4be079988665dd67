import { newId } from '../../ids.ts';
import type { DockerClient } from './docker-client.ts';
import type { Facts } from './facts.ts';
import { isRefusal } from './failures.ts';
import { type Holder, makeHolder, removeHolder, startHolder } from './holder.ts';
import { provideHolderImage } from './holder-image.ts';
import { groupLabel, labelFilter, ownLabels } from './labels.ts';
import type { Bridge, ContainerNetwork } from './network.ts';
import { readLocalCounters } from './network-counters.ts';
import { Inspection, Listed, read } from './shapes.ts';
import type { Spools } from './spools.ts';

export interface HolderLimits {
  /** How many that nobody has used wait for a group's first container. */
  readonly ready: number;
  /** How many wait in all. */
  readonly idle: number;
  /** How long one waits for its group to come back. */
  readonly idleMs: number;
}

interface IdleHolder {
  readonly holder: Holder;
  /** Who used it; undefined when nobody has. */
  readonly group: string | undefined;
  readonly since: number;
}

interface Lease {
  readonly holder: Holder;
  /** Undefined when nobody may use it again. */
  readonly group: string | undefined;
}

export interface HoldersParts {
  readonly client: DockerClient;
  readonly facts: Facts;
  readonly network: ContainerNetwork;
  readonly spools: Spools;
  readonly owner: string;
  readonly limits: HolderLimits;
}

/**
 * The network places: each serves one container at a time, and one group in its life. Joining one is faster than making
 * a network, and what it counts outlives the container.
 */
export class Holders {
  readonly #client: DockerClient;
  readonly #facts: Facts;
  readonly #network: ContainerNetwork;
  readonly #owner: string;
  readonly #limits: HolderLimits;
  readonly #spools: Spools;
  #idle: IdleHolder[] = [];
  /** By container. */
  readonly #leases = new Map<string, Lease>();
  /**
   * Names of those that this process has made or found in use: it knows what they are for. Whoever looks for strangers
   * does not ask the engine about them, because its list is of a moment ago.
   */
  readonly #known = new Set<string>();
  #found: { readonly losses: number; readonly done: Promise<void> } | undefined;
  #making: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ client, facts, network, spools, owner, limits }: HoldersParts) {
    this.#client = client;
    this.#facts = facts;
    this.#network = network;
    this.#spools = spools;
    this.#owner = owner;
    this.#limits = limits;
  }

  /** Resolves when as many are ready as should be. */
  async prepare(): Promise<void> {
    await this.#findAgain();
    this.#making ??= this.#fill().finally(() => {
      this.#making = undefined;
    });
    await this.#making;
  }

  /**
   * A place for a container of this group, or for one that shares with nobody. Undefined where there is no holder program
   * for the engine's processor.
   */
  async take(group: string | undefined): Promise<Holder | undefined> {
    await this.#findAgain();
    for (;;) {
      const idle = this.#pick(group);
      if (idle === undefined) break;
      if (idle.group === undefined) this.#tendLater(500);
      if (await this.#isAlive(idle.holder)) return idle.holder;
      await this.#remove(idle.holder);
    }
    return this.#make();
  }

  /** Binds a place that was taken to the container that joined it. */
  lease(container: string, holder: Holder, group: string | undefined): void {
    this.#leases.set(container, { holder, group });
  }

  /** Binds the place that a container has joined, as far as it is free: the one just taken, or one that waits. */
  rejoin(
    container: string,
    networkMode: string,
    taken: Holder | undefined,
    group: string | undefined,
  ): void {
    const isJoined = ({ id }: Holder): boolean => networkMode === `container:${id}`;
    const at = this.#idle.findIndex(({ holder }) => isJoined(holder));
    const holder = taken && isJoined(taken) ? taken : this.#idle[at]?.holder;
    if (holder === undefined || this.#leases.has(container)) return;
    if (at >= 0) this.#idle.splice(at, 1);
    this.lease(container, holder, group);
  }

  isLeased({ id }: Holder): boolean {
    return [...this.#leases.values()].some(({ holder }) => holder.id === id);
  }

  async of(container: string): Promise<Holder | undefined> {
    await this.#findAgain();
    return this.#leases.get(container)?.holder;
  }

  /** The container is gone: its place is free for the next one of its group. */
  async release(container: string): Promise<void> {
    await this.#findAgain();
    const lease = this.#leases.get(container);
    if (lease === undefined) return;
    this.#leases.delete(container);
    await this.giveBack(lease.holder, lease.group);
  }

  /** Also for a place that was taken and that no container joined. */
  async giveBack(holder: Holder, group: string | undefined): Promise<void> {
    const isUseful = group !== undefined && !this.#isClosed;
    if (!isUseful || !(await this.#spools.clear(holder.name))) return this.#remove(holder);
    this.#idle.push({ holder, group, since: Date.now() });
    this.#tendLater(this.#limits.idleMs);
    // The one that waited longest goes, but never one that nobody has used.
    while (this.#idle.length > this.#limits.idle) {
      const at = Math.max(
        0,
        this.#idle.findIndex((one) => one.group !== undefined),
      );
      const [oldest] = this.#idle.splice(at, 1);
      if (oldest !== undefined) await this.#remove(oldest.holder);
    }
  }

  /** To be asked before a start: holders do not come back by themselves when the engine was restarted. */
  async revive(container: string): Promise<void> {
    await this.#findAgain();
    const lease = this.#leases.get(container);
    if (lease === undefined || (await readLocalCounters(lease.holder)) !== undefined) return;
    // Whether the engine is another one's, or it has ended: to start one that runs has no effect.
    const { id, name } = lease.holder;
    const gathered = await this.#spools.gathers(name);
    await this.#spools.closed(name);
    const holder = await startHolder(this.#client, id, name);
    if (gathered) await this.#spools.opened(name);
    this.#leases.set(container, { ...lease, holder });
  }

  /** Removes those that nobody knows of. */
  async tidy(): Promise<void> {
    this.#found = undefined;
    await this.#findAgain();
  }

  /** Removes those that wait. */
  async empty(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#making?.catch(() => {});
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(idle.map(({ holder }) => this.#remove(holder)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.empty();
  }

  #pick(group: string | undefined): IdleHolder | undefined {
    const own = this.#idle.findLastIndex((one) => one.group === group);
    const at = own >= 0 ? own : this.#idle.findLastIndex((one) => one.group === undefined);
    return at >= 0 ? this.#idle.splice(at, 1)[0] : undefined;
  }

  async #isAlive(holder: Holder): Promise<boolean> {
    // Of an engine elsewhere only the start will tell.
    if (!(await this.#network.get()).isLocal) return true;
    return (await readLocalCounters(holder)) !== undefined;
  }

  async #make(): Promise<Holder | undefined> {
    for (let attempt = 0; ; attempt++) {
      if (!(await provideHolderImage(this.#client, this.#facts))) return undefined;
      try {
        return await this.#makeOne(await this.#network.get());
      } catch (error) {
        // The network or the image was removed a moment ago, by a person or by another service that ends.
        if (attempt >= 3 || !isRefusal(error, 404)) throw error;
        this.#network.forget();
      }
    }
  }

  async #makeOne(bridge: Bridge): Promise<Holder> {
    const name = `${this.#owner}-holder-${newId()}`;
    this.#known.add(name);
    const folder = bridge.isLocal ? await this.#spools.make(name) : undefined;
    try {
      const holder = await makeHolder(this.#client, this.#owner, name, bridge, folder);
      if (folder !== undefined) await this.#spools.opened(name);
      return holder;
    } catch (error) {
      await this.#spools.remove(name);
      this.#known.delete(name);
      // The engine does not see the folder: it is on this machine's network, and has other files.
      if (folder === undefined || !isRefusal(error, 400)) throw error;
      this.#spools.turnOff();
      return this.#makeOne(bridge);
    }
  }

  async #remove({ id, name }: Holder): Promise<void> {
    await removeHolder(this.#client, id);
    await this.#spools.remove(name);
    this.#known.delete(name);
  }

  async #fill(): Promise<void> {
    while (!this.#isClosed) {
      const ready = this.#idle.filter((one) => one.group === undefined).length;
      if (ready >= this.#limits.ready) return;
      const holder = await this.#make();
      if (holder === undefined) return;
      this.#idle.push({ holder, group: undefined, since: Date.now() });
    }
  }

  /** Later, so that it does not take time from the container that is just starting. */
  #tendLater(afterMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#tend().catch(() => {}), afterMs).unref();
  }

  async #tend(): Promise<void> {
    const oldest = Date.now() - this.#limits.idleMs;
    const tired = this.#idle.filter((one) => one.group !== undefined && one.since <= oldest);
    this.#idle = this.#idle.filter((one) => !tired.includes(one));
    for (const { holder } of tired) await this.#remove(holder);
    if (this.#idle.some((one) => one.group !== undefined)) this.#tendLater(this.#limits.idleMs);
    await this.prepare();
  }

  /** After a start of the service, and after the engine was away: which holders there are, and who uses them. */
  #findAgain(): Promise<void> {
    if (this.#found?.losses !== this.#client.losses) this.#found = undefined;
    this.#found ??= { losses: this.#client.losses, done: this.#find() };
    const { done } = this.#found;
    done.catch(() => {
      this.#found = undefined;
    });
    return done;
  }

  async #find(): Promise<void> {
    const ask = async (labels: Readonly<Record<string, string>>): Promise<Listed> =>
      read(
        Listed,
        await this.#client.call('GET', '/containers/json', {
          query: { all: true, filters: labelFilter(labels) },
        }),
        'containers',
      );
    const [holders, containers] = await Promise.all([
      ask(ownLabels(this.#owner, 'holder')),
      ask(ownLabels(this.#owner, 'container')),
    ]);
    const users = new Map<string | undefined, Listed[number]>();
    for (const container of containers) users.set(await this.#placeOf(container), container);
    for (const { Id, Names } of holders) {
      const name = (Names?.[0] ?? '').replace(/^\//, '');
      if (this.#known.has(name)) continue;
      const user = users.get(Id);
      if (user === undefined) {
        // Whether one that waits has been used, and by whom, is not written anywhere.
        await removeHolder(this.#client, Id);
        continue;
      }
      this.#known.add(name);
      const holder = { id: Id, pid: (await this.#inspect(Id))?.State.Pid ?? 0, name };
      this.#leases.set(user.Id, { holder, group: user.Labels?.[groupLabel] });
    }
    await this.#spools.tidy((name) => this.#known.has(name));
  }

  /** The holder that a container has joined. */
  async #placeOf({ Id, HostConfig }: Listed[number]): Promise<string | undefined> {
    // Podman does not list it.
    const mode = HostConfig?.NetworkMode?.startsWith('container:')
      ? HostConfig.NetworkMode
      : (await this.#inspect(Id))?.HostConfig.NetworkMode;
    return mode?.replace(/^container:/, '');
  }

  /** Undefined when it was removed meanwhile. */
  async #inspect(id: string): Promise<Inspection | undefined> {
    try {
      const answer = await this.#client.call('GET', `/containers/${id}/json`);
      return read(Inspection, answer, 'a container');
    } catch (error) {
      if (isRefusal(error, 404)) return undefined;
      throw error;
    }
  }
}
