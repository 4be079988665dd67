import type { Api, CallOptions } from '../api.ts';
import type { Delivery } from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byLink } from '../paging.ts';
import type { PageOptions } from './aliases.ts';

/** Events of a reactor on their way to its link and its webhook. */
export class Deliveries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(
    reactorId: string,
    options: PageOptions & { readonly status?: Delivery['status'] | undefined } = {},
  ): Listing<Delivery> {
    const { limit, offset, status, ...rest } = options;
    const call = { path: { reactorId }, query: { limit, offset, status }, options: rest };
    return byLink(this.#api, 'GET /actors/v2/{reactorId}/deliveries', call, (items) => ({
      page: items,
      items,
    }));
  }

  /** Delivers once more. */
  redeliver(reactorId: string, deliveryId: string, options?: CallOptions): Promise<Delivery> {
    const call = { path: { reactorId, deliveryId }, options };
    return this.#api.call('POST /actors/v2/{reactorId}/deliveries/{deliveryId}', call);
  }
}
