import type { Api, CallOptions, Input, ReplyOf } from '../api.ts';
import { InvalidReplyError } from '../errors.ts';
import type { Profile, PublicProfile } from '../generated/api.ts';
import type { Query } from '../http/address.ts';
import type { Listing } from '../listing.ts';
import { byPlace } from '../paging.ts';
import type { PageOptions } from './aliases.ts';

export interface UserListOptions extends PageOptions {
  /** Found anywhere in the field, whatever the case; `name` in any of the names. */
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly status?: string | undefined;
}

/** Users. Others see names only; admins and the users themselves see all. */
export class Users {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Who the token belongs to. */
  async me(options?: CallOptions): Promise<Profile> {
    return wholeProfile(await this.#api.call('GET /profiles/v2/me', { options }));
  }

  async updateMe(changes: Input<'PUT /profiles/v2/me'>, options?: CallOptions): Promise<Profile> {
    const call = { json: changes, options };
    return wholeProfile(await this.#api.call('PUT /profiles/v2/me', call));
  }

  /** For admins. */
  list(options: UserListOptions = {}): Listing<Profile> {
    const { signal, timeoutMs, firstName, lastName, ...asked } = options;
    const ask = async (query: Query) => {
      const call = { query, options: { signal, timeoutMs } };
      return (await this.#api.call('GET /profiles/v2', call)).map(wholeProfile);
    };
    const query = { ...asked, first_name: firstName, last_name: lastName };
    return byPlace(ask, query, ({ uid }, { offset: _begun, ...rest }) => ({ ...rest, after: uid }));
  }

  async get(username: string, options?: CallOptions): Promise<Profile | PublicProfile> {
    const call = { path: { username }, options };
    return profile(await this.#api.call('GET /profiles/v2/{username}', call));
  }

  async create(user: Input<'POST /profiles/v2'>, options?: CallOptions): Promise<Profile> {
    return wholeProfile(await this.#api.call('POST /profiles/v2', { json: user, options }));
  }

  async update(
    username: string,
    changes: Input<'PUT /profiles/v2/{username}'>,
    options?: CallOptions,
  ): Promise<Profile> {
    const call = { path: { username }, json: changes, options };
    return wholeProfile(await this.#api.call('PUT /profiles/v2/{username}', call));
  }

  async delete(username: string, options?: CallOptions): Promise<void> {
    await this.#api.call('DELETE /profiles/v2/{username}', { path: { username }, options });
  }
}

type AnyProfile = ReplyOf<'GET /profiles/v2/me'> | ReplyOf<'GET /profiles/v2/{username}'>;

function wholeProfile(given: AnyProfile): Profile {
  if ('roles' in given) return given;
  throw new InvalidReplyError('The profile is not complete; is this the address of the service?');
}

/** The compact shape is answered to those who ask for it, which this client does not. */
function profile(given: AnyProfile): Profile | PublicProfile {
  if ('_links' in given) return given;
  throw new InvalidReplyError('The profile is not complete; is this the address of the service?');
}
