import type { Api, CallOptions } from '../api.ts';
import { ConflictError } from '../errors.ts';
import { resultOf } from '../http/replies.ts';

/** What a stateful reactor remembers from one execution to the next. */
export interface KeptState<State = unknown> {
  readonly state: State;
  /** Names this state, for a change that must not overwrite a later one. */
  readonly etag: string;
}

export class States {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  get<State = unknown>(reactorId: string, options?: CallOptions): Promise<KeptState<State>> {
    const call = { path: { reactorId }, options };
    return this.#api.read('GET /actors/v2/{reactorId}/state', call, (reply) =>
      readState<State>(reply),
    );
  }

  /** Replaces the whole state. With `ifMatch`, only while it is the one that the ETag names (ConflictError otherwise). */
  set<State>(
    reactorId: string,
    state: State,
    options: CallOptions & { readonly ifMatch?: string | undefined } = {},
  ): Promise<KeptState<State>> {
    const { ifMatch, ...rest } = options;
    const call = {
      path: { reactorId },
      json: state,
      headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
      options: rest,
    };
    return this.#api.read('POST /actors/v2/{reactorId}/state', call, (reply) =>
      readState<State>(reply),
    );
  }

  /**
   * Changes the state atomically: `change` gets the state as it is and returns the new one. When somebody else was faster,
   * it is asked again with what they have left.
   */
  async update<State = unknown>(
    reactorId: string,
    change: (state: State) => State | Promise<State>,
    options: CallOptions = {},
  ): Promise<KeptState<State>> {
    for (;;) {
      const { state, etag } = await this.get<State>(reactorId, options);
      const changed = await change(state);
      try {
        return await this.set(reactorId, changed, { ...options, ifMatch: etag });
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  }
}

async function readState<State>(reply: Response): Promise<KeptState<State>> {
  const { state } = await resultOf(reply);
  return { state, etag: reply.headers.get('etag') ?? '' };
}
