import { test } from 'node:test';
import { allPages, isReadFirst, testPages } from './pages.ts';

const pages = allPages();

test('what is not run says why', (t) => {
  for (const { path, notRun } of pages)
    for (const { line, reason } of notRun) t.diagnostic(`${path}:${line} is not run: ${reason}`);
});

testPages(pages.filter(isReadFirst));
