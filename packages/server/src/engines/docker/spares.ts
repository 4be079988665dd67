import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ContainerGone,
  type ContainerOutput,
  EngineUnavailable,
  NeverBegun,
  type Spare,
  type SpareSpec,
} from '../engine.ts';
import { environmentOf, type Place, type Waiting } from './container-config.ts';
import type { Containers } from './containers.ts';
import type { DockerClient } from './docker-client.ts';
import { startOf } from './end.ts';
import type { Exits, Watch } from './exits.ts';
import type { Facts } from './facts.ts';
import { isRefusal, onContainer } from './failures.ts';
import type { Images } from './images.ts';
import { spareLabel } from './labels.ts';
import { linesOf } from './log-lines.ts';
import type { ContainerNetwork } from './network.ts';
import type { Outputs } from './output.ts';
import type { Places } from './places.ts';
import { Said } from './said.ts';
import { SpareOutput } from './spare-output.ts';
import { WaitFile } from './wait-file.ts';
import { handedOver, waitPath } from './wait-program.ts';

export interface SparesParts {
  readonly client: DockerClient;
  readonly facts: Facts;
  readonly network: ContainerNetwork;
  readonly images: Images;
  readonly places: Places;
  readonly containers: Containers;
  readonly exits: Exits;
  readonly outputs: Outputs;
  /** Where the waiting program is kept on this machine. Without it there are no spares. */
  readonly folder: string | undefined;
  /** As the engine makes every container. */
  readonly create: (
    spec: SpareSpec,
    waiting: Waiting,
  ) => Promise<{ readonly id: string; readonly place: Place }>;
  readonly remove: (id: string) => Promise<void>;
}

/** On a machine that is busy. */
const readyMs = 60_000;
const beginMs = 60_000;
/** A spare ends with the connection of the service that made it; this is for when the engine has not noticed. */
const sureMs = 10_000;

/** Containers that wait for their environment, and later ones that know when they got it. */
export class Spares {
  readonly #parts: SparesParts;
  readonly #file: WaitFile;
  /** When those that were given their environment were, by container. */
  readonly #begun = new Map<string, string>();
  /** Of those that wait, by container: nobody reads them, so nobody else would notice their end. */
  readonly #outputs = new Map<string, SpareOutput>();

  constructor(parts: SparesParts) {
    this.#parts = parts;
    this.#file = new WaitFile(parts.folder);
  }

  async make(spec: SpareSpec): Promise<Spare | undefined> {
    const waiting = await this.#waiting(spec);
    if (waiting === undefined) return undefined;
    const { containers, exits, outputs, places, remove } = this.#parts;
    const made = await this.#create(spec, waiting);
    if (made === undefined) return undefined;
    const { id, place } = made;
    let output: SpareOutput | undefined;
    try {
      const watch = exits.watch(id);
      const attached = await outputs.attachWithInput(id);
      output = new SpareOutput(attached.output);
      await onContainer(id, 'start a container', () => containers.start(id));
      await places.begin(id);
      if (await within(readyMs, output.waits()))
        return this.#spare({ id, spec, place, watch, input: attached.input, output });
    } catch (error) {
      output?.close();
      await remove(id).catch(() => {});
      throw error;
    }
    output.close();
    await remove(id);
    return undefined;
  }

  /** When its program began; undefined where the engine's own word for its start is right. */
  begunAt(id: string): string | undefined {
    return this.#begun.get(id);
  }

  /** The container is gone. */
  forget(id: string): void {
    this.#begun.delete(id);
    this.#outputs.get(id)?.close();
    this.#outputs.delete(id);
  }

  /** Those that wait end with their connections. */
  close(): void {
    for (const output of this.#outputs.values()) output.close();
    this.#outputs.clear();
  }

  /** For its output: what has to be left out of it. */
  async saidBy(id: string): Promise<Said | undefined> {
    const found = await this.#parts.containers.find(id);
    return found?.Config.Labels?.[spareLabel] === undefined ? undefined : new Said();
  }

  async begun(id: string): Promise<string | undefined> {
    const known = this.#begun.get(id);
    if (known !== undefined) return known;
    const { containers, exits } = this.#parts;
    const found = await containers.find(id);
    if (found === undefined) throw new ContainerGone(id);
    if (found.State.Status === 'created') return undefined;
    if (found.Config.Labels?.[spareLabel] === undefined) return startOf(found.State);
    const watch = exits.watch(id);
    const late = setTimeout(() => void containers.stop(id, 0).catch(() => {}), sureMs);
    try {
      const { breaks } = watch;
      const told = await this.#toldIn(id, 1);
      if (told === undefined) {
        await watch.state;
        if (watch.breaks > breaks)
          throw new EngineUnavailable('The container engine went away while it told of a spare.');
      }
      // Once more after its end: following may lose what was written last.
      const begunAt = told ?? (await this.#toldIn(id, 0));
      if (begunAt !== undefined) this.#begun.set(id, begunAt || startOf(found.State));
      return this.#begun.get(id);
    } finally {
      clearTimeout(late);
    }
  }

  /** The time at which its log says that it began; empty where the log has lost that, and undefined where it did not. */
  async #toldIn(id: string, follow: 0 | 1): Promise<string | undefined> {
    const { client } = this.#parts;
    const source = await onContainer(id, 'hand out the log of a container', () =>
      client.open('GET', `/containers/${id}/logs`, {
        query: { stdout: 1, stderr: 1, timestamps: 1, follow },
      }),
    );
    const said = new Said();
    try {
      for await (const chunk of linesOf(source)) {
        said.leftOut(chunk);
        if (said.begun) return chunk.stamp;
        if (said.isStrange) return isOfInit(chunk.bytes) ? undefined : '';
      }
    } catch (error) {
      throw client.lost(error, await client.address().catch(() => undefined));
    } finally {
      source.destroy();
    }
    return undefined;
  }

  /** Undefined: there is no way to let this one wait. */
  async #waiting(spec: SpareSpec): Promise<Waiting | undefined> {
    const { facts, network, images } = this.#parts;
    const { isPodman, hasInit, architecture } = await facts.get();
    // The waiting program leaves to Docker's first process what it cannot do.
    if (isPodman || !hasInit || !(await network.get()).isLocal) return undefined;
    const [program, becomes] = await Promise.all([
      this.#file.provide(architecture),
      images.programOf(spec),
    ]);
    if (program === undefined || becomes === undefined) return undefined;
    return { program, path: waitPath, becomes };
  }

  async #create(spec: SpareSpec, waiting: Waiting) {
    try {
      return await this.#parts.create(spec, waiting);
    } catch (error) {
      // The engine does not see this machine's files.
      if (!isRefusal(error, 400) || !error.message.includes(waiting.program)) throw error;
      this.#file.turnOff();
      return undefined;
    }
  }

  #spare(parts: {
    readonly id: string;
    readonly spec: SpareSpec;
    readonly place: Place;
    readonly watch: Watch;
    readonly input: Duplex;
    readonly output: SpareOutput;
  }): Spare {
    const { id, spec, place, watch, input, output } = parts;
    this.#outputs.set(id, output);
    const { breaks } = watch;
    let isLost = false;
    const lose = (): void => {
      isLost = true;
    };
    input.once('close', lose);
    watch.state.then(lose, lose);
    return {
      id,
      isUsable: () => !isLost && watch.breaks === breaks,
      begin: async (environment): Promise<ContainerOutput> => {
        const variables = environmentOf({ ...spec, environment }, place);
        await this.#parts.places.beginCounting(id);
        const begunAt = new Date().toISOString();
        try {
          if (!input.destroyed) input.write(handedOver(variables));
          if (!(await within(beginMs, output.begins()))) throw new NeverBegun(spec.name);
        } catch (error) {
          // Whatever it writes later is read from its log: nobody must have to wait for this reader.
          output.close();
          throw error;
        } finally {
          this.#outputs.delete(id);
        }
        this.#begun.set(id, begunAt);
        return output.ofProgram();
      },
    };
  }
}

/** The engine's first process could not even begin the waiting program. */
const isOfInit = (bytes: Uint8Array): boolean => Buffer.from(bytes).includes('[FATAL tini');

async function within<Value>(limitMs: number, promise: Promise<Value>): Promise<Value> {
  const over = new AbortController();
  promise.catch(() => {});
  try {
    return await Promise.race([
      promise,
      pause(limitMs, undefined, { signal: over.signal, ref: false }).then(() => {
        throw new EngineUnavailable('The container engine did not pass on what it was given.');
      }),
    ]);
  } finally {
    over.abort();
  }
}
