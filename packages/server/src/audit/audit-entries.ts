import type { Page } from '../contract/page.ts';
import { risingBound } from '../ids.ts';
import type { Store } from '../store/store.ts';

export interface WantedEntries extends Page {
  readonly user?: string;
  readonly action?: string;
  /** How the address of the resource begins. */
  readonly resource?: string;
  /** From this time on, and before that one. */
  readonly from?: number;
  readonly to?: number;
  /** The last one of the page before. */
  readonly after?: string;
}

/** Newest first. One more than the page holds, where there is one: it tells that there is a next page. */
export function findEntries(store: Store, wanted: WantedEntries) {
  const { limit, offset, user, action, resource, from, to, after } = wanted;
  return (
    store.read
      .selectFrom('audit_entries')
      .selectAll()
      .$if(user !== undefined, (query) => query.where('username', '=', user ?? ''))
      .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
      .$if(resource !== undefined, (query) =>
        query
          .where('resource', '>=', resource ?? '')
          .where('resource', '<', `${resource ?? ''}\u{10ffff}`),
      )
      // By the id, which rises with the time and has the index.
      .$if(from !== undefined, (query) => query.where('id', '>=', risingBound(from ?? 0)))
      .$if(to !== undefined, (query) => query.where('id', '<', risingBound(to ?? 0)))
      .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .offset(offset)
      .execute()
  );
}
