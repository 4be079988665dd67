import type { Api, CallOptions } from '../api.ts';
import { TimeoutError } from '../errors.ts';
import type { Execution, ExecutionList, ListedExecution, Logs } from '../generated/api.ts';
import { pause } from '../http/pause.ts';
import type { Listing } from '../listing.ts';
import { byLink } from '../paging.ts';
import { type FollowLogOptions, LogStream } from '../streams/log-stream.ts';

export interface ExecutionListOptions extends CallOptions {
  /** How many on a page. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface LogOptions extends CallOptions {
  readonly stream?: 'stdout' | 'stderr' | undefined;
  /** Only so many of the last lines. */
  readonly tail?: number | undefined;
}

/** The message of an execution, as it was posted. */
export interface PostedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** The runs of a reactor, one for each message. */
export class Executions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Newest first. `page()` has the sums over all of them too. */
  list(
    reactorId: string,
    options: ExecutionListOptions = {},
  ): Listing<ListedExecution, ExecutionList> {
    const { limit, offset, ...rest } = options;
    const call = { path: { reactorId }, query: { limit, offset }, options: rest };
    return byLink(this.#api, 'GET /actors/v2/{reactorId}/executions', call, (reply) => {
      if (!('executions' in reply)) throw new TypeError('a search is no list');
      return { page: reply, items: reply.executions };
    });
  }

  get(reactorId: string, executionId: string, options?: CallOptions): Promise<Execution> {
    const call = { path: { reactorId, executionId }, options };
    return this.#api.call('GET /actors/v2/{reactorId}/executions/{executionId}', call);
  }

  /** Stops it. */
  async halt(reactorId: string, executionId: string, options?: CallOptions): Promise<void> {
    const call = { path: { reactorId, executionId }, options };
    await this.#api.call('DELETE /actors/v2/{reactorId}/executions/{executionId}', call);
  }

  /** The record, once the execution is over. */
  async untilOver(
    reactorId: string,
    executionId: string,
    options: CallOptions & { readonly withinMs?: number | undefined } = {},
  ): Promise<Execution> {
    const { withinMs = Number.POSITIVE_INFINITY, ...rest } = options;
    const deadline = Date.now() + withinMs;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.5, 2000)) {
      const execution = await this.get(reactorId, executionId, rest);
      if (execution.status === 'COMPLETE' || execution.status === 'ERROR') return execution;
      if (Date.now() + waitMs > deadline)
        throw new TimeoutError(
          `The execution ${executionId} was not over after ${withinMs / 1000} s; it goes on.`,
        );
      await pause(waitMs, rest.signal);
    }
  }

  /** The message that it ran for. */
  message(reactorId: string, executionId: string, options?: CallOptions): Promise<PostedBytes> {
    const call = { path: { reactorId, executionId }, headers: { accept: '*/*' }, options };
    return this.#api.read(
      'GET /actors/v2/{reactorId}/executions/{executionId}/message',
      call,
      async (reply) => ({
        bytes: new Uint8Array(await reply.arrayBuffer()),
        contentType: reply.headers.get('content-type') ?? 'application/octet-stream',
      }),
    );
  }

  /** What it has written so far. */
  logs(reactorId: string, executionId: string, options: LogOptions = {}): Promise<Logs> {
    const { stream, tail, ...rest } = options;
    const call = { path: { reactorId, executionId }, query: { stream, tail }, options: rest };
    return this.#api.call('GET /actors/v2/{reactorId}/executions/{executionId}/logs', call);
  }

  /** What it has written, and then what it writes, until it is over. Goes on by itself after a broken connection. */
  followLogs(reactorId: string, executionId: string, options: FollowLogOptions = {}): LogStream {
    return new LogStream(this.#api, { reactorId, executionId }, options);
  }
}
