import type { Api, CallOptions, Input } from '../api.ts';
import type { GivenPermission, Permissions as Levels, Nonce } from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byOffset, byPlace } from '../paging.ts';
import type { PageOptions } from './aliases.ts';

/** A reactor, by its id or an alias; or, as an object, the alias itself, which has permissions and nonces of its own. */
export type Target = string | { readonly alias: string };

/** Who else may use a reactor. */
export class Permissions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The level of each user. */
  get(target: Target, options?: CallOptions): Promise<Levels> {
    return typeof target === 'string'
      ? this.#api.call('GET /actors/v2/{reactorId}/permissions', {
          path: { reactorId: target },
          options,
        })
      : this.#api.call('GET /actors/v2/aliases/{alias}/permissions', { path: target, options });
  }

  /** Gives a user a level; NONE takes it away. The user WORLD is everyone. */
  set(
    target: Target,
    user: string,
    level: GivenPermission['level'],
    options?: CallOptions,
  ): Promise<Levels> {
    const json = { user, level };
    return typeof target === 'string'
      ? this.#api.call('POST /actors/v2/{reactorId}/permissions', {
          path: { reactorId: target },
          json,
          options,
        })
      : this.#api.call('POST /actors/v2/aliases/{alias}/permissions', {
          path: target,
          json,
          options,
        });
  }
}

export type NewNonce = Input<'POST /actors/v2/{reactorId}/nonces'>;

/** Secrets that open one reactor without a token, for so many uses. */
export class Nonces {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(target: Target, options: PageOptions = {}): Listing<Nonce> {
    const { limit, offset, ...rest } = options;
    const ask = (query: object) =>
      typeof target === 'string'
        ? this.#api.call('GET /actors/v2/{reactorId}/nonces', {
            path: { reactorId: target },
            query: { ...query },
            options: rest,
          })
        : this.#api.call('GET /actors/v2/aliases/{alias}/nonces', {
            path: target,
            query: { ...query },
            options: rest,
          });
    return byPlace(ask, { limit, offset }, byOffset);
  }

  create(target: Target, nonce: NewNonce = {}, options?: CallOptions): Promise<Nonce> {
    return typeof target === 'string'
      ? this.#api.call('POST /actors/v2/{reactorId}/nonces', {
          path: { reactorId: target },
          json: nonce,
          options,
        })
      : this.#api.call('POST /actors/v2/aliases/{alias}/nonces', {
          path: target,
          json: nonce,
          options,
        });
  }

  get(target: Target, nonceId: string, options?: CallOptions): Promise<Nonce> {
    return typeof target === 'string'
      ? this.#api.call('GET /actors/v2/{reactorId}/nonces/{nonceId}', {
          path: { reactorId: target, nonceId },
          options,
        })
      : this.#api.call('GET /actors/v2/aliases/{alias}/nonces/{nonceId}', {
          path: { ...target, nonceId },
          options,
        });
  }

  async delete(target: Target, nonceId: string, options?: CallOptions): Promise<void> {
    await (typeof target === 'string'
      ? this.#api.call('DELETE /actors/v2/{reactorId}/nonces/{nonceId}', {
          path: { reactorId: target, nonceId },
          options,
        })
      : this.#api.call('DELETE /actors/v2/aliases/{alias}/nonces/{nonceId}', {
          path: { ...target, nonceId },
          options,
        }));
  }
}
