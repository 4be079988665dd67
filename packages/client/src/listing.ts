import type { Query } from './http/address.ts';

/** One page as it came, what it lists, and how to ask for the one behind it. */
export interface ListedPage<Page, Item> {
  readonly page: Page;
  readonly items: readonly Item[];
  readonly next: Query | undefined;
}

/**
 * A list, of which nothing is asked before it is read. `for await` goes through all entries, a page at a time, and costs
 * the same on every page.
 */
export class Listing<Item, Page = readonly Item[]> implements AsyncIterable<Item> {
  readonly #ask: (next: Query | undefined) => Promise<ListedPage<Page, Item>>;

  constructor(ask: (next: Query | undefined) => Promise<ListedPage<Page, Item>>) {
    this.#ask = ask;
  }

  /** The first page alone, as the service answers it. */
  async page(): Promise<Page> {
    return (await this.#ask(undefined)).page;
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<Page, void, void> {
    for await (const { page } of this.#pages()) yield page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    for await (const { items } of this.#pages()) yield* items;
  }

  /** All of it, or the first `most`. */
  async toArray(most = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const all: Item[] = [];
    if (most <= 0) return all;
    for await (const item of this) {
      all.push(item);
      if (all.length >= most) break;
    }
    return all;
  }

  async *#pages(): AsyncGenerator<ListedPage<Page, Item>, void, void> {
    let next: Query | undefined;
    do {
      const listed = await this.#ask(next);
      yield listed;
      next = listed.next;
    } while (next !== undefined);
  }
}
