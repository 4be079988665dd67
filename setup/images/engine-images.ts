import { DockerClient } from '../../packages/server/src/engines/docker/docker-client.ts';
import { isRefusal } from '../../packages/server/src/engines/docker/failures.ts';
import { Images } from '../../packages/server/src/engines/docker/images.ts';
import { jsonLines } from '../../packages/server/src/engines/docker/json-lines.ts';
import type { TarArchive } from '../../packages/server/src/engines/docker/tar.ts';
import { PullFailed } from '../../packages/server/src/engines/engine.ts';

/** An image as the engine has it, with what we wrote on it. */
export interface KnownImage {
  readonly id: string;
  /** What it was made from, where we made it. */
  readonly source: string | undefined;
}

const sourceLabel = 'org.reactord.source';
const silenceLimitMs = 20_000;

/** The engine as a builder of images. Everything goes over its API: a machine need not have the program `docker`. */
export class EngineImages {
  readonly #client: DockerClient;

  constructor(engine: string | undefined) {
    this.#client = new DockerClient(engine, process.env);
  }

  async find(reference: string): Promise<KnownImage | undefined> {
    try {
      return knownImage(
        await this.#client.call('GET', `/images/${encodeURIComponent(reference)}/json`),
      );
    } catch (error) {
      if (isRefusal(error, 404)) return undefined;
      throw error;
    }
  }

  /** Pulls it. A registry that says nothing for a while is given up. */
  async pull(reference: string): Promise<void> {
    const giveUp = new AbortController();
    const wait = (): NodeJS.Timeout => setTimeout(() => giveUp.abort(), silenceLimitMs);
    let timer = wait();
    const onProgress = (): void => {
      clearTimeout(timer);
      timer = wait();
    };
    try {
      await new Images(this.#client).pull(reference, { signal: giveUp.signal, onProgress });
    } catch (error) {
      if (giveUp.signal.aborted)
        throw new PullFailed('unreachable', `no registry answered for ${reference}`);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Builds by a Dockerfile with the builder that every engine has. */
  async build(
    name: string,
    archive: TarArchive,
    options: { readonly dockerfile: string; readonly base: string; readonly source: string },
  ): Promise<void> {
    const response = await this.#client.open('POST', '/build', {
      query: {
        t: `${name}:latest`,
        dockerfile: options.dockerfile,
        buildargs: JSON.stringify({ BASE: options.base }),
        labels: JSON.stringify({ [sourceLabel]: options.source }),
        rm: 1,
        forcerm: 1,
      },
      upload: archive,
    });
    await readToEnd(response, name);
  }

  /** Makes an image of a whole file system. */
  async load(name: string, archive: TarArchive, source: string, changes: string): Promise<void> {
    const response = await this.#client.open('POST', '/images/create', {
      query: {
        fromSrc: '-',
        repo: name,
        tag: 'latest',
        changes: `${changes}\nLABEL ${sourceLabel}=${JSON.stringify(source)}`,
      },
      upload: archive,
    });
    await readToEnd(response, name);
  }

  close(): void {
    this.#client.close();
  }
}

/** The engine tells of a failure in the middle of an answer that began well. */
async function readToEnd(response: AsyncIterable<Buffer>, name: string): Promise<void> {
  const said: string[] = [];
  for await (const line of jsonLines(response)) {
    if (typeof line !== 'object' || line === null) continue;
    if ('stream' in line) said.push(String(line.stream));
    if ('error' in line)
      throw new Error(`${name} could not be built: ${String(line.error)}\n${said.join('')}`);
  }
}

function knownImage(answer: unknown): KnownImage {
  if (typeof answer !== 'object' || answer === null || !('Id' in answer))
    throw new Error('The engine told of an image without an id.');
  const config = 'Config' in answer ? answer.Config : undefined;
  const labels =
    typeof config === 'object' && config !== null && 'Labels' in config ? config.Labels : undefined;
  const source =
    typeof labels === 'object' && labels !== null ? Reflect.get(labels, sourceLabel) : undefined;
  return { id: String(answer.Id), source: typeof source === 'string' ? source : undefined };
}
