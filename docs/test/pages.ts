import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Page, readPage } from './page.ts';
import { root, runPage } from './run-page.ts';
import { prepare } from './surroundings.ts';

/** Where commands for readers are. */
const places = [
  'README.md',
  'docs/guides/*.md',
  'docs/reference/*.md',
  'packages/*/README.md',
  'python/README.md',
  'examples/**/README.md',
  'images/**/README.md',
];

export const allPages = (): readonly Page[] => globSync(places, { cwd: root }).sort().map(readPage);

/** What people read first runs with the quick tests, the rest with the slow ones. */
export const isReadFirst = ({ path }: Page): boolean => path === 'README.md';

/** A test for each page that has something to run. */
export function testPages(pages: readonly Page[]): void {
  // Beside each other: they wait more than they work.
  describe('every command works as it stands in', { concurrency: 3 }, () => {
    for (const page of pages) {
      if (page.steps.length === 0) continue;
      test(page.path, async () => {
        await using surroundings = await prepare(page);
        await runPage(page, surroundings);
      });
    }
  });
}
