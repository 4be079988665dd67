import { ConnectionError, TimeoutError, UnauthorizedError } from '../errors.ts';
import { type Credentials, nobody, type Presented } from '../tokens/credentials.ts';
import { baseOf, type Query, queryText } from './address.ts';
import { pause } from './pause.ts';
import { errorOf } from './replies.ts';
import {
  pauseBefore,
  type Repeating,
  type RetryOptions,
  type RetryRules,
  usualRetries,
} from './retries.ts';

export interface TransportOptions {
  /** The address of the service, such as https://reactors.example.org. */
  readonly baseUrl: string | URL;
  /** How a failed request is sent again. */
  readonly retry?: RetryOptions | undefined;
  /** How long one try may take, in milliseconds; a minute unless said. Streams may last longer. */
  readonly timeoutMs?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Instead of the fetch of the browser or of Node. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export type SentBody =
  | string
  | Uint8Array<ArrayBuffer>
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>;

export interface Outgoing {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: SentBody | undefined;
  readonly repeating: Repeating;
  /** Beside what is usual: the request asks the service to wait so long. */
  readonly extraMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const usualTimeoutMs = 60_000;

/** Sends requests, again where that is safe, and turns refusals into errors. */
export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;
  readonly #retry: RetryRules;
  readonly #credentials: Credentials;

  constructor(options: TransportOptions, credentials: Credentials = nobody) {
    this.baseUrl = baseOf(options.baseUrl);
    this.#options = options;
    this.#retry = withoutUndefined(usualRetries, options.retry ?? {});
    this.#credentials = credentials;
  }

  /** The same service, called by somebody else. */
  as(credentials: Credentials): Transport {
    return new Transport(this.#options, credentials);
  }

  /** Sends and reads. A reply that breaks off while it is read counts as failed, and is asked for again. */
  async exchange<Answer>(
    request: Outgoing,
    read: (reply: Response) => Promise<Answer>,
  ): Promise<Answer> {
    let renewed = false;
    for (let failures = 1; ; ) {
      const presented = await this.#credentials.present(request.signal);
      try {
        return await this.#attempt(request, presented, read);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (!renewed && (await this.#renews(error, request, presented))) {
          renewed = true;
          continue;
        }
        const milliseconds = pauseBefore(error, failures, request.repeating, this.#retry);
        if (milliseconds === undefined) throw error;
        failures += 1;
        await pause(milliseconds, request.signal);
      }
    }
  }

  /** Sends, and hands out the reply with its body still to come. The signal ends that too. */
  open(request: Outgoing): Promise<Response> {
    return this.exchange(request, async (reply) => reply);
  }

  async #renews(error: unknown, request: Outgoing, presented: Presented): Promise<boolean> {
    if (!(error instanceof UnauthorizedError) || request.repeating === 'impossible') return false;
    return (await this.#credentials.renew?.(presented, request.signal)) ?? false;
  }

  async #attempt<Answer>(
    request: Outgoing,
    presented: Presented,
    read: (reply: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const { method, path, signal, extraMs = 0 } = request;
    const timeoutMs = (request.timeoutMs ?? this.#options.timeoutMs ?? usualTimeoutMs) + extraMs;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      const reply = await this.#fetch(request, presented, limit.signal);
      if (!reply.ok) throw await errorOf(reply, `${method} ${path}`);
      return await read(reply);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (limit.signal.aborted)
        throw new TimeoutError(`${method} ${path}: no answer after ${timeoutMs / 1000} s.`);
      if (error instanceof TypeError || isBrokenOff(error)) throw this.#unreached(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #fetch(request: Outgoing, presented: Presented, limit: AbortSignal): Promise<Response> {
    const { method, path, query = {}, headers = {}, body, signal } = request;
    const asked = presented.nonce === undefined ? query : { ...query, 'x-nonce': presented.nonce };
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers: {
        accept: 'application/json',
        ...this.#options.headers,
        ...headers,
        ...(presented.authorization !== undefined && { authorization: presented.authorization }),
      },
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      credentials: 'omit',
      // A redirect would turn what is sent into a question.
      redirect: method === 'GET' ? 'follow' : 'error',
      ...(body !== undefined && { body }),
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    };
    const send = this.#options.fetch ?? globalThis.fetch;
    return send(`${this.baseUrl}${path}${queryText(asked)}`, init);
  }

  #unreached(error: unknown): ConnectionError {
    return new ConnectionError(`Cannot reach ${this.baseUrl}: ${reasonOf(error)}`, error);
  }
}

/** The connection ended in the middle of a body; browsers and Node name this in different ways. */
const isBrokenOff = (error: unknown): boolean =>
  error instanceof Error && ['AbortError', 'NetworkError', 'SocketError'].includes(error.name);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  // Of several addresses that were tried, each has an error; together they have an empty message.
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return cause.message === '' ? code : cause.message;
}

function withoutUndefined(usual: RetryRules, given: RetryOptions): RetryRules {
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...usual, ...Object.fromEntries(said) };
}
