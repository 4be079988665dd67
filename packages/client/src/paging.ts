import type { Api, Call, OperationName, ReplyOf } from './api.ts';
import type { Query } from './http/address.ts';
import { Listing } from './listing.ts';

/** A list whose reply names the next page in its Link header. `itemsOf`: where its entries are. */
export function byLink<Name extends OperationName, Item, Page = ReplyOf<Name>>(
  api: Api,
  name: Name,
  call: Call<Name>,
  read: (reply: ReplyOf<Name>) => { readonly page: Page; readonly items: readonly Item[] },
): Listing<Item, Page> {
  return new Listing(async (asked) => {
    const { result, next } = await api.page(name, asked ? { ...call, query: asked } : call);
    return { ...read(result), next };
  });
}

/** A list without such a header: a full page is followed by the one that `after` asks for. */
export function byPlace<Item>(
  fetchPage: (query: Query) => Promise<readonly Item[]>,
  query: Query,
  after: (last: Item, query: Query, count: number) => Query,
): Listing<Item> {
  const limit = Number(query['limit'] ?? usualLimit);
  return new Listing(async (asked = query) => {
    const items = await fetchPage(asked);
    const last = items.at(-1);
    const more = items.length >= limit && last !== undefined;
    return { page: items, items, next: more ? after(last, asked, items.length) : undefined };
  });
}

/** What the service takes for a limit that is not said. */
const usualLimit = 100;

export const byOffset = (_last: unknown, query: Query, count: number): Query => ({
  ...query,
  offset: Number(query['offset'] ?? 0) + count,
});
