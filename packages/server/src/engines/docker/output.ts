import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ContainerOutput, EngineUnavailable, type OutputChunk } from '../engine.ts';
import type { DockerClient } from './docker-client.ts';
import type { Exits, Watch } from './exits.ts';
import { onContainer } from './failures.ts';
import { framesOf } from './frames.ts';
import { linesOf } from './log-lines.ts';
import { Marks } from './marks.ts';
import type { Said } from './said.ts';

type Source = Duplex | IncomingMessage;

/** What a container writes: live, or again from the engine's log. */
export class Outputs {
  readonly #client: DockerClient;
  readonly #exits: Exits;

  constructor(client: DockerClient, exits: Exits) {
    this.#client = client;
    this.#exits = exits;
  }

  async attach(id: string): Promise<ContainerOutput> {
    return (await this.#attach(id, {})).output;
  }

  /** With a way to write to the container's input, which ends with the connection. */
  attachWithInput(
    id: string,
  ): Promise<{ readonly output: ContainerOutput; readonly input: Duplex }> {
    return this.#attach(id, { stdin: 1 });
  }

  async #attach(id: string, more: { readonly stdin?: number }) {
    const watch = this.#exits.watch(id);
    const input = await onContainer(id, 'attach to a container', () =>
      this.#client.upgrade(`/containers/${id}/attach`, {
        stream: 1,
        stdout: 1,
        stderr: 1,
        ...more,
      }),
    );
    return { input, output: this.#live(input, watch) };
  }

  #live(source: Duplex, watch: Watch): ContainerOutput {
    const output = new OpenOutput(this.#client, source);
    const { breaks } = watch;
    return output.reading(async function* () {
      for await (const { stream, bytes } of framesOf(output.guard(source)))
        yield { stream, time: Date.now(), bytes };
      if (output.isClosed) return;
      // The engine ends the stream in the same way when the container ends and when it is itself stopped.
      await watch.state;
      if (watch.breaks > breaks)
        throw new EngineUnavailable('The container engine went away while the container ran.');
    });
  }

  /** `said`: what the container's waiting program may have said, which is left out. */
  async replay(id: string, said: Said | undefined): Promise<ContainerOutput> {
    const open = (query: {
      follow: number;
      since?: number | undefined;
    }): Promise<IncomingMessage> =>
      onContainer(id, 'hand out the log of a container', () =>
        this.#client.open('GET', `/containers/${id}/logs`, {
          query: { stdout: 1, stderr: 1, timestamps: 1, ...query },
        }),
      );
    const watch = this.#exits.watch(id);
    const first = await open({ follow: 1 });
    const output = new OpenOutput(this.#client, first);
    return output.reading(async function* () {
      const marks = new Marks();
      for await (const chunk of linesOf(output.guard(first))) {
        marks.set(chunk);
        const bytes = said === undefined ? chunk.bytes : said.leftOut(chunk);
        if (bytes.length > 0) yield { ...chunk, bytes };
      }
      if (output.isClosed) return;
      await watch.state;
      // Following loses what a container wrote last when no line end follows it; so the end is read once more.
      const second = await open({ follow: 0, since: marks.since() });
      output.replace(second);
      for await (const chunk of linesOf(output.guard(second))) {
        const beyond = marks.beyond(chunk);
        const bytes = said === undefined ? beyond : said.leftOut({ ...chunk, bytes: beyond });
        if (bytes.length > 0) yield { ...chunk, bytes };
      }
    });
  }
}

/** An output that can be closed from outside, also while its reader waits for the next chunk. */
class OpenOutput {
  readonly #client: DockerClient;
  #source: Source;
  #isClosed = false;

  constructor(client: DockerClient, source: Source) {
    this.#client = client;
    this.#source = source;
  }

  /** Nobody waits for the end of the container then. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  replace(source: Source): void {
    this.#source = source;
    if (this.#isClosed) source.destroy();
  }

  /** A source whose breaking off is the engine's. */
  async *guard(source: Source): AsyncGenerator<Buffer> {
    try {
      yield* source;
    } catch (error) {
      if (this.#isClosed) return;
      throw this.#client.lost(error, await this.#client.address().catch(() => undefined));
    }
  }

  reading(chunks: () => AsyncGenerator<OutputChunk>): ContainerOutput {
    const close = (): void => {
      this.#isClosed = true;
      this.#source.destroy();
    };
    const isClosed = (): boolean => this.#isClosed;
    return {
      close,
      async *[Symbol.asyncIterator]() {
        try {
          yield* chunks();
        } catch (error) {
          if (!isClosed()) throw error;
        } finally {
          close();
        }
      },
    };
  }
}
