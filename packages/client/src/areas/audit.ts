import type { Api, CallOptions, QueryOf } from '../api.ts';
import type { AuditEntry } from '../generated/api.ts';
import type { Listing } from '../listing.ts';
import { byLink } from '../paging.ts';

export type AuditFilter = Omit<QueryOf<'GET /audit/v2'>, 'cursor'>;

/** Who did what; for admins. */
export class Audit {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Newest first. */
  list(filter: AuditFilter = {}, options?: CallOptions): Listing<AuditEntry> {
    return byLink(this.#api, 'GET /audit/v2', { query: filter, options }, (items) => ({
      page: items,
      items,
    }));
  }
}
