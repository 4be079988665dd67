import type { Api, CallOptions } from '../api.ts';
import type { GivenResult } from '../generated/api.ts';

export interface Result {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes read as UTF-8. */
  text(): string;
  /** Its number among the results of the execution, from 1. */
  readonly index: number;
  readonly executionId: string;
}

/** Of one execution, or of the newest of the reactor that gave any. */
export interface ResultOptions extends CallOptions {
  readonly executionId?: string | undefined;
}

interface PeekOptions extends ResultOptions {
  /** The oldest behind the result of this number. */
  readonly after?: number | undefined;
}

/** What executions give back. */
export class Results {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The oldest result that nobody has taken, once and to nobody else; undefined when none is left. */
  take(reactorId: string, options: ResultOptions = {}): Promise<Result | undefined> {
    return this.#read(reactorId, options, {});
  }

  /** The oldest result, which stays; undefined when there is none. */
  peek(reactorId: string, options: PeekOptions = {}): Promise<Result | undefined> {
    const { after, ...rest } = options;
    return this.#read(reactorId, rest, { keep: true, after });
  }

  /** All that are left, oldest first, without taking them. */
  async *list(reactorId: string, options: PeekOptions = {}): AsyncGenerator<Result, void, void> {
    let { after } = options;
    let { executionId } = options;
    for (;;) {
      const result = await this.peek(reactorId, { ...options, executionId, after });
      if (result === undefined) return;
      yield result;
      after = result.index;
      // A newer execution may give its first result meanwhile.
      executionId = result.executionId;
    }
  }

  /** Gives a result, from inside the execution and with its token. */
  give(
    reactorId: string,
    executionId: string,
    result: Uint8Array<ArrayBuffer> | Blob | string,
    options?: CallOptions,
  ): Promise<GivenResult> {
    return this.#api.call('POST /actors/v2/{reactorId}/executions/{executionId}/results', {
      path: { reactorId, executionId },
      body: result,
      headers: { 'content-type': 'application/octet-stream' },
      options,
    });
  }

  #read(
    reactorId: string,
    { executionId, ...options }: ResultOptions,
    query: { readonly keep?: boolean; readonly after?: number | undefined },
  ): Promise<Result | undefined> {
    const more = {
      query,
      headers: { accept: '*/*' },
      // Whoever takes and hears nothing does not know whether it is taken; the next is another one.
      repeating: query.keep === true ? ('safe' as const) : ('unsafe' as const),
      options,
    };
    if (executionId === undefined)
      return this.#api.read(
        'GET /actors/v2/{reactorId}/results',
        { path: { reactorId }, ...more },
        readResult,
      );
    return this.#api.read(
      'GET /actors/v2/{reactorId}/executions/{executionId}/results',
      { path: { reactorId, executionId }, ...more },
      readResult,
    );
  }
}

async function readResult(reply: Response): Promise<Result | undefined> {
  const index = reply.headers.get('x-result-index');
  const bytes = new Uint8Array(await reply.arrayBuffer());
  if (index === null) return undefined;
  return {
    bytes,
    text: () => new TextDecoder().decode(bytes),
    index: Number(index),
    executionId: reply.headers.get('x-execution-id') ?? '',
  };
}
