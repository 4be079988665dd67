import type { Api, CallOptions } from '../api.ts';
import type {
  DeadLetters as DeadLetterPage,
  DeletedDeadLetters,
  ReplayedDeadLetter,
  ReplayedDeadLetters,
} from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byLink } from '../paging.ts';

export type DeadLetter = DeadLetterPage['deadLetters'][number];

/** Messages whose executions have failed for the last time. */
export class DeadLetters {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(
    reactorId: string,
    options: CallOptions & { readonly limit?: number | undefined } = {},
  ): Listing<DeadLetter, DeadLetterPage> {
    const { limit, ...rest } = options;
    const call = { path: { reactorId }, query: { limit }, options: rest };
    return byLink(this.#api, 'GET /actors/v2/{reactorId}/dead-letters', call, (page) => ({
      page,
      items: page.deadLetters,
    }));
  }

  /** Posts the message anew. */
  replay(
    reactorId: string,
    executionId: string,
    options?: CallOptions,
  ): Promise<ReplayedDeadLetter> {
    const call = { path: { reactorId, executionId }, options };
    return this.#api.call('POST /actors/v2/{reactorId}/dead-letters/{executionId}', call);
  }

  replayAll(reactorId: string, options?: CallOptions): Promise<ReplayedDeadLetters> {
    const call = { path: { reactorId }, options };
    return this.#api.call('POST /actors/v2/{reactorId}/dead-letters', call);
  }

  async delete(reactorId: string, executionId: string, options?: CallOptions): Promise<void> {
    const call = { path: { reactorId, executionId }, options };
    await this.#api.call('DELETE /actors/v2/{reactorId}/dead-letters/{executionId}', call);
  }

  deleteAll(reactorId: string, options?: CallOptions): Promise<DeletedDeadLetters> {
    const call = { path: { reactorId }, options };
    return this.#api.call('DELETE /actors/v2/{reactorId}/dead-letters', call);
  }
}
