import type { Api, CallOptions, Input } from '../api.ts';
import type {
  Client,
  ClientWithNewSecret,
  ClientWithSecret,
  Subscription,
} from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byPlace } from '../paging.ts';
import type { PageOptions } from './aliases.ts';

/** Client applications of the user who calls, with name and password (`basic`) or a token. */
export class Clients {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The only reply with its secret, beside that of `rotateSecret`. */
  create(client: Input<'POST /clients/v2'>, options?: CallOptions): Promise<ClientWithSecret> {
    return this.#api.call('POST /clients/v2', { json: client, options });
  }

  list(options: PageOptions = {}): Listing<Client> {
    const { limit, offset, ...rest } = options;
    const ask = (query: object) =>
      this.#api.call('GET /clients/v2', { query: { ...query }, options: rest });
    return byPlace(ask, { limit, offset }, ({ name }, { offset: _begun, ...query }) => ({
      ...query,
      after: name,
    }));
  }

  get(clientName: string, options?: CallOptions): Promise<Client> {
    return this.#api.call('GET /clients/v2/{clientName}', { path: { clientName }, options });
  }

  update(
    clientName: string,
    changes: Input<'PUT /clients/v2/{clientName}'>,
    options?: CallOptions,
  ): Promise<Client> {
    const call = { path: { clientName }, json: changes, options };
    return this.#api.call('PUT /clients/v2/{clientName}', call);
  }

  /** Ends every token of it. */
  async delete(clientName: string, options?: CallOptions): Promise<void> {
    await this.#api.call('DELETE /clients/v2/{clientName}', { path: { clientName }, options });
  }

  /** Gives it a new secret; the one before it counts for `overlap` seconds more. */
  rotateSecret(
    clientName: string,
    options: CallOptions & { readonly overlap?: number | undefined } = {},
  ): Promise<ClientWithNewSecret> {
    const { overlap, ...rest } = options;
    const call = { path: { clientName }, json: { overlap }, options: rest };
    return this.#api.call('POST /clients/v2/{clientName}/secret', call);
  }
}

/** Which APIs a client may call. */
export class Subscriptions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(clientName: string, options?: CallOptions): Promise<readonly Subscription[]> {
    const call = { path: { clientName }, options };
    return this.#api.call('GET /clients/v2/{clientName}/subscriptions', call);
  }

  /** An API by its name, several, or `*` for all. */
  add(
    clientName: string,
    name: string | readonly string[],
    options?: CallOptions,
  ): Promise<readonly Subscription[]> {
    const call = { path: { clientName }, json: { name }, options };
    return this.#api.call('POST /clients/v2/{clientName}/subscriptions', call);
  }

  remove(
    clientName: string,
    name: string | readonly string[],
    options?: CallOptions,
  ): Promise<readonly Subscription[]> {
    const call = { path: { clientName }, query: { name }, options };
    return this.#api.call('DELETE /clients/v2/{clientName}/subscriptions', call);
  }
}
