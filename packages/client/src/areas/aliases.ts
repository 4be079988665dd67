import type { Api, CallOptions, Input } from '../api.ts';
import type { Alias } from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byOffset, byPlace } from '../paging.ts';

export interface PageOptions extends CallOptions {
  /** How many on a page. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Other names for reactors; each works wherever an id does. */
export class Aliases {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(options: PageOptions = {}): Listing<Alias> {
    const { limit, offset, ...rest } = options;
    const ask = (query: object) =>
      this.#api.call('GET /actors/v2/aliases', { query: { ...query }, options: rest });
    return byPlace(ask, { limit, offset }, byOffset);
  }

  create(alias: Input<'POST /actors/v2/aliases'>, options?: CallOptions): Promise<Alias> {
    return this.#api.call('POST /actors/v2/aliases', { json: alias, options });
  }

  get(alias: string, options?: CallOptions): Promise<Alias> {
    return this.#api.call('GET /actors/v2/aliases/{alias}', { path: { alias }, options });
  }

  /** Lets it name another reactor from now on. */
  move(alias: string, reactorId: string, options?: CallOptions): Promise<Alias> {
    const call = { path: { alias }, json: { actorId: reactorId }, options };
    return this.#api.call('PUT /actors/v2/aliases/{alias}', call);
  }

  async delete(alias: string, options?: CallOptions): Promise<void> {
    await this.#api.call('DELETE /actors/v2/aliases/{alias}', { path: { alias }, options });
  }
}
