import { createHash } from 'node:crypto';
import {
  EngineRefused,
  type Image,
  PullFailed,
  type PullOptions,
  type PullProgress,
  type RegistryCredentials,
  type SpareSpec,
} from '../engine.ts';
import { describeReference, type ImageReference, readReference } from '../image-reference.ts';
import type { DockerClient } from './docker-client.ts';
import { DockerRefusal, isRefusal, reasonOf, refused } from './failures.ts';
import { jsonLines } from './json-lines.ts';
import { ProgressSum } from './pull-progress.ts';
import { pullFailure } from './pull-sentences.ts';
import { ImageInspection, PullLine, read } from './shapes.ts';

interface SharedPull {
  readonly image: Promise<Image>;
  readonly listeners: Set<(progress: PullProgress) => void>;
  readonly stop: AbortController;
  callers: number;
}

export class Images {
  readonly #client: DockerClient;
  /** By reference and credentials: whoever may not read an image must not get it through somebody else's pull. */
  readonly #pulls = new Map<string, SharedPull>();
  /** By reference: pulls of one reference never overlap. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(client: DockerClient) {
    this.#client = client;
  }

  async find(reference: string): Promise<Image | undefined> {
    const parsed = readReference(reference);
    // The engine also knows images by their ids.
    const name = parsed === undefined ? reference : describeReference(parsed);
    try {
      const answer = await this.#client.call('GET', `/images/${encodeURIComponent(name)}/json`);
      return imageOf(read(ImageInspection, answer, `image ${name}`), parsed);
    } catch (error) {
      if (isRefusal(error, 404, 400)) return undefined;
      throw error instanceof DockerRefusal ? refused(error, `tell of image ${name}`) : error;
    }
  }

  /**
   * The program that a container begins with, and its arguments: the image's, or what is to run instead of it. Undefined
   * when the engine does not have the image, or nobody says what to run.
   */
  async programOf(spec: SpareSpec): Promise<readonly string[] | undefined> {
    let { entrypoint, command } = spec;
    if (entrypoint === undefined) {
      const config = await this.#configOf(spec.image);
      if (config === undefined) return undefined;
      entrypoint = config?.Entrypoint ?? [];
      command ??= config?.Cmd ?? [];
    }
    const words = [...entrypoint, ...(command ?? [])];
    return words.length === 0 ? undefined : words;
  }

  async #configOf(image: string): Promise<ImageInspection['Config']> {
    try {
      const answer = await this.#client.call('GET', `/images/${encodeURIComponent(image)}/json`);
      return read(ImageInspection, answer, `image ${image}`).Config ?? null;
    } catch (error) {
      if (isRefusal(error, 404, 400)) return undefined;
      throw error instanceof DockerRefusal ? refused(error, `tell of image ${image}`) : error;
    }
  }

  async pull(reference: string, options: PullOptions = {}): Promise<Image> {
    const parsed = readReference(reference);
    if (parsed === undefined)
      throw new PullFailed('invalid reference', `${reference} is not a valid image reference`);
    const givenUp = new PullFailed(
      'given up',
      `the pull of ${describeReference(parsed)} was given up`,
    );
    if (options.signal?.aborted) throw givenUp;
    const shared = this.#share(parsed, options.credentials);
    shared.callers += 1;
    if (options.onProgress) shared.listeners.add(options.onProgress);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(givenUp);
    options.signal?.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([shared.image, aborted]);
    } finally {
      options.signal?.removeEventListener('abort', abort);
      if (options.onProgress) shared.listeners.delete(options.onProgress);
      shared.callers -= 1;
      if (shared.callers === 0) shared.stop.abort();
    }
  }

  #share(reference: ImageReference, credentials: RegistryCredentials | undefined): SharedPull {
    const named = describeReference(reference);
    const key = `${named} ${digestOf(credentials)}`;
    const running = this.#pulls.get(key);
    // One that its callers have given up ends soon, and with an error.
    if (running !== undefined && !running.stop.signal.aborted) return running;
    const listeners = new Set<(progress: PullProgress) => void>();
    const stop = new AbortController();
    const before = this.#turns.get(named) ?? Promise.resolve();
    const image = before
      .catch(() => {})
      .then(() =>
        this.#fetch(reference, credentials, stop.signal, (progress) => {
          for (const listener of listeners) listener(progress);
        }),
      );
    const shared = { image, listeners, stop, callers: 0 };
    this.#pulls.set(key, shared);
    this.#turns.set(named, image);
    const forget = (): void => {
      if (this.#pulls.get(key) === shared) this.#pulls.delete(key);
      if (this.#turns.get(named) === image) this.#turns.delete(named);
    };
    image.then(forget, forget);
    return shared;
  }

  async #fetch(
    reference: ImageReference,
    credentials: RegistryCredentials | undefined,
    signal: AbortSignal,
    tell: (progress: PullProgress) => void,
  ): Promise<Image> {
    const fail = (words: string): PullFailed =>
      pullFailure(reference, words, credentials !== undefined);
    try {
      const response = await this.#client.open('POST', '/images/create', {
        query: { fromImage: reference.name, tag: reference.version },
        headers: authorization(reference, credentials),
        signal,
      });
      const sum = new ProgressSum();
      let digest: string | undefined;
      for await (const value of jsonLines(response)) {
        const line = read(PullLine, value, 'a pull');
        if (line.error !== undefined) throw fail(line.error);
        digest = /^Digest: (sha256:[0-9a-f]{64})/.exec(line.status ?? '')?.[1] ?? digest;
        const progress = sum.add(line);
        if (progress !== undefined) tell(progress);
      }
      const image = await this.find(describeReference(reference));
      if (image === undefined) throw fail('the engine does not have it after the pull');
      return { id: image.id, digest: digest ?? image.digest };
    } catch (error) {
      if (error instanceof DockerRefusal) throw fail(error.message);
      if (signal.aborted) throw fail('given up');
      if (isBrokenStream(error))
        throw this.#client.lost(
          reasonOf(error),
          await this.#client.address().catch(() => undefined),
        );
      throw error;
    }
  }
}

/** The connection ended before the answer did, or in the middle of a line. */
function isBrokenStream(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  return error instanceof Error && 'code' in error && !(error instanceof EngineRefused);
}

function imageOf(
  { Id, RepoDigests }: { Id: string; RepoDigests?: readonly string[] | null },
  reference: ImageReference | undefined,
): Image {
  const digests = (RepoDigests ?? []).map((text) => text.split('@'));
  const own = digests.find(([name]) => name === reference?.name) ?? digests[0];
  return { id: Id, digest: reference?.isDigest ? reference.version : own?.[1] };
}

function authorization(
  { registry }: ImageReference,
  credentials: RegistryCredentials | undefined,
): Record<string, string> {
  if (credentials === undefined) return {};
  const { username, password } = credentials;
  const value = JSON.stringify({ username, password, serveraddress: registry });
  // With the padding that Node leaves out: Docker 20.10 takes a value without it for no credentials at all.
  const text = Buffer.from(value).toString('base64url');
  return { 'X-Registry-Auth': text.padEnd(Math.ceil(text.length / 4) * 4, '=') };
}

function digestOf(credentials: RegistryCredentials | undefined): string {
  if (credentials === undefined) return '';
  return createHash('sha256').update(JSON.stringify(credentials)).digest('hex');
}
