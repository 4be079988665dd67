import type { ContainerSpec, Usage } from '../engine.ts';
import { type CgroupFigures, Cgroups } from './cgroups.ts';
import type { Place } from './container-config.ts';
import type { Containers } from './containers.ts';
import type { DockerClient } from './docker-client.ts';
import type { Facts } from './facts.ts';
import { DockerRefusal, refused } from './failures.ts';
import { extraHosts, type Holder } from './holder.ts';
import type { Holders } from './holders.ts';
import { groupLabel, type Labels, networkBeforeLabel, ownLabels } from './labels.ts';
import type { ContainerNetwork } from './network.ts';
import { localCountersNow, readCounters } from './network-counters.ts';
import { Samples, usageOf } from './samples.ts';
import type { Spools } from './spools.ts';

export interface TakenPlace {
  readonly place: Place;
  readonly labels: Labels;
  readonly holder: Holder | undefined;
  readonly group: string | undefined;
  readonly memoryBytes: number;
  readonly kills: number;
}

/** What has to be known of a container to count for it, and to clear up after it. */
interface Account {
  readonly cgroupParent: string | undefined;
  readonly networkBefore: number | undefined;
  readonly memoryBytes: number;
  /** How many kills the kernel's log told of before it. */
  readonly kills: number;
}

export interface PlacesParts {
  readonly client: DockerClient;
  readonly facts: Facts;
  readonly network: ContainerNetwork;
  readonly holders: Holders;
  readonly spools: Spools;
  readonly containers: Containers;
  readonly owner: string;
}

/** Where containers are put, so that what each used is known to the byte and to the nanosecond after its end. */
export class Places {
  readonly #parts: PlacesParts;
  readonly #cgroups: Cgroups;
  readonly #samples: Samples;
  readonly #accounts = new Map<string, Account>();

  constructor(parts: PlacesParts) {
    this.#parts = parts;
    this.#cgroups = new Cgroups(parts.owner);
    this.#samples = new Samples(parts.client);
  }

  async take(spec: ContainerSpec): Promise<TakenPlace> {
    const { client, holders, network, owner } = this.#parts;
    try {
      // A privileged container can change its network: nobody else may have it afterwards.
      const group = spec.privileged ? undefined : spec.group;
      const holder = await holders.take(group);
      const bridge = await network.get();
      const before = holder && (await readCounters(client, holder));
      return {
        place: {
          networkMode: holder ? `container:${holder.id}` : bridge.id,
          extraHosts: holder ? [] : extraHosts(bridge),
          cgroupParent: bridge.isLocal ? await this.#cgroupParentOf(spec.name) : undefined,
          sink: holder && spec.datagrams && (await this.#sinkOf(holder)),
        },
        labels: {
          ...ownLabels(owner, 'container'),
          ...(group !== undefined && { [groupLabel]: group }),
          ...(before !== undefined && { [networkBeforeLabel]: String(before) }),
        },
        holder,
        group,
        memoryBytes: spec.limits.memoryBytes,
        kills: this.#cgroups.killsSoFar(await this.#parts.facts.get()),
      };
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, 'make a network place') : error;
    }
  }

  /** The container has been made in the place that was taken for it. */
  settle(id: string, { place, holder, group, labels, memoryBytes, kills }: TakenPlace): void {
    if (holder) this.#parts.holders.lease(id, holder, group);
    const { cgroupParent } = place;
    const networkBefore = networkBeforeOf(labels);
    this.#accounts.set(id, { cgroupParent, networkBefore, memoryBytes, kills });
  }

  /** The container was there already, made by a call whose answer was lost: the place that it got then is in use. */
  rejoin(id: string, networkMode: string, { holder, group }: TakenPlace): void {
    this.#parts.holders.rejoin(id, networkMode, holder, group);
  }

  /** No effect when a container has settled in it. */
  async giveBack({ holder, group }: TakenPlace): Promise<void> {
    const { holders } = this.#parts;
    if (holder && !holders.isLeased(holder)) await holders.giveBack(holder, group);
  }

  /** To be called when a container starts: what cannot be read afterwards is sampled. */
  async begin(id: string): Promise<void> {
    const { cgroupParent, networkBefore } = await this.#account(id);
    if (cgroupParent === undefined || networkBefore === undefined) this.#samples.begin(id);
  }

  /** A container that waited is used from now on: what went over its network before was not its own. */
  async beginCounting(id: string): Promise<void> {
    const account = this.#accounts.get(id);
    const holder = await this.#parts.holders.of(id);
    const now = holder && localCountersNow(holder);
    if (account?.networkBefore !== undefined && now !== undefined)
      this.#accounts.set(id, { ...account, networkBefore: now });
  }

  /** The engine's flag tells of some kills and not of others: here it missed one of a child process in twelve. */
  async ranOutOfMemory(id: string): Promise<boolean> {
    const account = await this.#account(id);
    if (account.cgroupParent === undefined) return false;
    const facts = await this.#parts.facts.get();
    return this.#cgroups.ranOutOfMemory(account.cgroupParent, facts, account);
  }

  async usage(id: string): Promise<Usage | undefined> {
    const [figures, network] = await Promise.all([this.#figures(id), this.#networkBytes(id)]);
    const sample = this.#samples.last(id);
    if (figures !== undefined && network !== undefined)
      return { cpu: figures.cpu, io: figures.blockBytes + network, exact: true };
    if (figures === undefined && network === undefined) return sample && usageOf(sample);
    return usageOf({
      cpu: figures?.cpu ?? sample?.cpu ?? 0,
      blockBytes: figures?.blockBytes ?? sample?.blockBytes ?? 0,
      networkBytes: network ?? sample?.networkBytes ?? 0,
    });
  }

  /** Removes the container by `remove`, and then what it leaves behind. */
  async clear(id: string, remove: () => Promise<void>): Promise<void> {
    const { cgroupParent } = await this.#account(id);
    await remove();
    this.#samples.forget(id);
    this.#accounts.delete(id);
    if (cgroupParent !== undefined)
      await this.#cgroups.remove(cgroupParent, await this.#parts.facts.get());
    await this.#parts.holders.release(id);
  }

  /** Removes the control groups of containers that are not among these. */
  async tidy(names: ReadonlySet<string>): Promise<void> {
    const facts = await this.#parts.facts.get();
    const { isLocal } = await this.#parts.network.get();
    if (isLocal && this.#cgroups.areWithin(facts)) await this.#cgroups.removeOthers(names, facts);
  }

  close(): void {
    this.#samples.close();
    this.#cgroups.close();
  }

  async #sinkOf({ name }: Holder): Promise<string | undefined> {
    const { spools } = this.#parts;
    return (await spools.gathers(name)) ? spools.fileOf(name, 'sink') : undefined;
  }

  async #cgroupParentOf(name: string): Promise<string | undefined> {
    const facts = await this.#parts.facts.get();
    return this.#cgroups.areWithin(facts) ? this.#cgroups.parentOf(name, facts) : undefined;
  }

  async #figures(id: string): Promise<CgroupFigures | undefined> {
    const { cgroupParent } = await this.#account(id);
    if (cgroupParent === undefined) return undefined;
    return this.#cgroups.figures(cgroupParent, await this.#parts.facts.get());
  }

  async #networkBytes(id: string): Promise<number | undefined> {
    const { networkBefore } = await this.#account(id);
    const holder = await this.#parts.holders.of(id);
    if (holder === undefined || networkBefore === undefined) return undefined;
    try {
      const after = await readCounters(this.#parts.client, holder);
      // A holder that was started again, with an engine that was away, counts from 0 again.
      return after < networkBefore ? after : after - networkBefore;
    } catch (error) {
      if (error instanceof DockerRefusal) return undefined;
      throw error;
    }
  }

  /** Of a container that an earlier process made, the engine tells. */
  async #account(id: string): Promise<Account> {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    const found = await this.#parts.containers.find(id);
    const account = {
      cgroupParent: found?.HostConfig.CgroupParent || undefined,
      networkBefore: networkBeforeOf(found?.Config.Labels ?? {}),
      memoryBytes: found?.HostConfig.Memory ?? 0,
      kills: 0,
    };
    if (found !== undefined) this.#accounts.set(id, account);
    return account;
  }
}

function networkBeforeOf(labels: Labels): number | undefined {
  const before = labels[networkBeforeLabel];
  return before === undefined ? undefined : Number(before);
}
