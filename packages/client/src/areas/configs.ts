import type { Api, CallOptions, Input } from '../api.ts';
import type { Config } from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byOffset, byPlace } from '../paging.ts';
import type { PageOptions } from './aliases.ts';

/** Named values and secrets for the containers of some reactors. */
export class Configs {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(options: PageOptions = {}): Listing<Config> {
    const { limit, offset, ...rest } = options;
    const ask = (query: object) =>
      this.#api.call('GET /actors/v2/configs', { query: { ...query }, options: rest });
    return byPlace(ask, { limit, offset }, byOffset);
  }

  create(config: Input<'POST /actors/v2/configs'>, options?: CallOptions): Promise<Config> {
    return this.#api.call('POST /actors/v2/configs', { json: config, options });
  }

  get(name: string, options?: CallOptions): Promise<Config> {
    return this.#api.call('GET /actors/v2/configs/{name}', { path: { name }, options });
  }

  update(
    name: string,
    config: Input<'PUT /actors/v2/configs/{name}'>,
    options?: CallOptions,
  ): Promise<Config> {
    const call = { path: { name }, json: config, options };
    return this.#api.call('PUT /actors/v2/configs/{name}', call);
  }

  async delete(name: string, options?: CallOptions): Promise<void> {
    await this.#api.call('DELETE /actors/v2/configs/{name}', { path: { name }, options });
  }
}
