import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { SettingError } from '../../config-sources.ts';
import { EngineRefused, EngineUnavailable } from '../engine.ts';
import { describeAddress, type EngineAddress, type Environment } from './address.ts';
import { answerTo, askApiVersion, openRequest, readText } from './docker-api.ts';
import { DockerRefusal, reasonOf } from './failures.ts';
import { findEngineAddress } from './find.ts';

/** The newest API whose answers this driver was written for. Engines of today still speak it; older ones offer theirs. */
const newestKnown = '1.47';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, part by part. */
  readonly upload?: { readonly length: number; readonly parts: Iterable<Uint8Array> } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What must not be asked twice when the answer is lost. */
  readonly isOnce?: boolean;
  /** For the whole exchange; of a stream only until its head has come. */
  readonly limitMs?: number;
}

interface Connection {
  readonly address: EngineAddress;
  readonly agent: HttpAgent;
  readonly prefix: string;
}

/**
 * The Docker API over connections that are kept. What does not get an answer rejects with EngineUnavailable, what is
 * answered with an error status rejects with DockerRefusal. After a failure the engine is looked for again, since it may
 * have come back elsewhere or as another version.
 */
export class DockerClient {
  readonly #named: string | undefined;
  readonly #environment: Environment;
  #connection: Promise<Connection> | undefined;
  /** Counts the times an engine was lost, for those who remember what it told them. */
  losses = 0;

  constructor(named: string | undefined, environment: Environment) {
    this.#named = named;
    this.#environment = environment;
  }

  async address(): Promise<EngineAddress> {
    return (await this.#connect()).address;
  }

  /** One call: its answer parsed, or undefined when it has no body. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const limit = AbortSignal.timeout(options.limitMs ?? 60_000);
    const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
    const response = await this.#send(method, path, { ...options, signal });
    const text = await this.#guard(() => readText(response), signal);
    if (text.trim() === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new EngineRefused(`The engine's answer to ${method} ${path} is not JSON.`);
    }
  }

  /** A call whose answer is read as it comes. Whoever asked reads it to its end or destroys it. */
  async open(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const opening = new AbortController();
    const timer =
      options.limitMs === undefined
        ? undefined
        : setTimeout(() => opening.abort(new Error('no answer in time')), options.limitMs);
    const signal = options.signal
      ? AbortSignal.any([options.signal, opening.signal])
      : opening.signal;
    try {
      return await this.#send(method, path, { ...options, signal });
    } finally {
      clearTimeout(timer);
    }
  }

  /** A call whose connection becomes a stream of bytes both ways. */
  async upgrade(path: string, query: Query): Promise<Duplex> {
    const { address, prefix } = await this.#connect();
    return this.#guard(() => {
      const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
      const request = openRequest(address, {
        method: 'POST',
        path: `${prefix}${path}${queryText(query)}`,
        headers: { Connection: 'Upgrade', Upgrade: 'tcp' },
      });
      request.on('error', reject);
      request.on('upgrade', (_response, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      request.on('response', (response) => void refusalOf(response).then(reject, reject));
      request.end();
      return promise;
    });
  }

  /** Breaks off what is under way. */
  close(): void {
    this.#drop((agent) => agent.destroy());
  }

  /** The error for an engine that broke off, after which it is looked for again. */
  lost(error: unknown, address: EngineAddress | undefined): EngineUnavailable {
    this.losses += 1;
    // What else is under way may still get its answer; it closes its connection then.
    this.#drop((agent) => {
      agent.maxFreeSockets = 0;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    });
    const place = address === undefined ? '' : ` at ${describeAddress(address)}`;
    return new EngineUnavailable(
      `The container engine${place} does not answer (${reasonOf(error)}): start it, or set DOCKER_HOST to one that runs.`,
    );
  }

  #drop(end: (agent: HttpAgent) => void): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(
      ({ agent }) => end(agent),
      () => {},
    );
  }

  async #send(method: string, path: string, options: CallOptions): Promise<IncomingMessage> {
    const response = await this.#guard(() => this.#attempt(method, path, options), options.signal);
    if ((response.statusCode ?? 0) < 400) return response;
    throw await this.#guard(() => refusalOf(response), options.signal);
  }

  async #attempt(method: string, path: string, options: CallOptions): Promise<IncomingMessage> {
    const { address, agent, prefix } = await this.#connect();
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const length = options.upload?.length ?? (body === undefined ? 0 : Buffer.byteLength(body));
    const send = (over: HttpAgent | undefined): ClientRequest =>
      openRequest(address, {
        method,
        path: `${prefix}${path}${queryText(options.query)}`,
        agent: over,
        signal: options.signal,
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(options.upload && { 'Content-Type': 'application/x-tar' }),
          ...(method !== 'GET' && { 'Content-Length': String(length) }),
          ...options.headers,
        },
      });
    const write = (open: ClientRequest): void => writeBody(open, body, options.upload?.parts);
    const request = send(options.isOnce ? undefined : agent);
    try {
      return await answerTo(request, write);
    } catch (error) {
      if (!request.reusedSocket || options.signal?.aborted) throw error;
      // An engine may close an idle connection in the moment in which it is used again.
      return answerTo(send(undefined), write);
    }
  }

  #connect(): Promise<Connection> {
    this.#connection ??= this.#find().catch((error) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #find(): Promise<Connection> {
    const address = await findEngineAddress(this.#named, this.#environment);
    if (address === undefined) {
      throw new EngineUnavailable(
        'No container engine was found: install Docker (on Debian: apt-get install docker.io) and start it, or set DOCKER_HOST.',
      );
    }
    try {
      const version = lower(await askApiVersion(address), newestKnown);
      const secured = address.kind === 'tcp' && address.tls !== undefined;
      const agent = new (secured ? HttpsAgent : HttpAgent)({ keepAlive: true });
      return { address, agent, prefix: `/v${version}` };
    } catch (error) {
      throw this.lost(error, address);
    }
  }

  async #guard<Value>(act: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof EngineRefused || error instanceof EngineUnavailable) throw error;
      if (error instanceof SettingError) throw error;
      // Given up by the caller, which is no fault of the engine.
      if (signal?.aborted && signal.reason?.name === 'AbortError') throw signal.reason;
      const address = (await this.#connection?.catch(() => undefined))?.address;
      throw this.lost(signal?.aborted ? 'no answer in time' : error, address);
    }
  }
}

function writeBody(
  request: ClientRequest,
  body: string | undefined,
  parts: Iterable<Uint8Array> | undefined,
): void {
  for (const part of parts ?? []) request.write(part);
  request.end(body);
}

async function refusalOf(response: IncomingMessage): Promise<DockerRefusal> {
  return new DockerRefusal(response.statusCode ?? 0, await readText(response));
}

function queryText(query: Query | undefined): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) text.set(name, String(value));
  return text.size === 0 ? '' : `?${text}`;
}

function lower(one: string, other: string): string {
  const minor = (version: string): number => Number(version.split('.')[1] ?? 0);
  return minor(one) < minor(other) ? one : other;
}
