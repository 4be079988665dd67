import type { Api, CallOptions } from '../api.ts';
import type {
  Execution,
  FoundExecutions,
  FoundLogs,
  FoundReactors,
  FoundWorkers,
  Reactor,
  Worker,
} from '../generated/api.ts';
import type { Query } from '../http/address.ts';
import type { Listing } from '../listing.ts';
import { byLink } from '../paging.ts';

/**
 * `search` finds text anywhere, `exactsearch` whole values; other names are terms, `field` or `field.op` with eq, neq, lt,
 * lte, gt, gte, in, nin, like, nlike or between. All must hold.
 */
export interface SearchTerms extends Query {
  readonly search?: string | undefined;
  readonly exactsearch?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** For admins: among those of all users. */
  readonly all?: boolean | undefined;
}

export type FoundLog = FoundLogs['search'][number];

/** Among everything that the caller may read. `page()` also says how many there are. */
export class Search {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  reactors(terms: SearchTerms = {}, options?: CallOptions): Listing<Reactor, FoundReactors> {
    const call = { query: terms, options };
    return byLink(this.#api, 'GET /actors/v2/search/actors', call, (page) => ({
      page,
      items: page.search,
    }));
  }

  executions(terms: SearchTerms = {}, options?: CallOptions): Listing<Execution, FoundExecutions> {
    const call = { query: terms, options };
    return byLink(this.#api, 'GET /actors/v2/search/executions', call, (page) => ({
      page,
      items: page.search,
    }));
  }

  workers(terms: SearchTerms = {}, options?: CallOptions): Listing<Worker, FoundWorkers> {
    const call = { query: terms, options };
    return byLink(this.#api, 'GET /actors/v2/search/workers', call, (page) => ({
      page,
      items: page.search,
    }));
  }

  logs(terms: SearchTerms = {}, options?: CallOptions): Listing<FoundLog, FoundLogs> {
    const call = { query: terms, options };
    return byLink(this.#api, 'GET /actors/v2/search/logs', call, (page) => ({
      page,
      items: page.search,
    }));
  }
}
