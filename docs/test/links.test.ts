import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './run-page.ts';

test('every link to a file of the repository leads to one', () => {
  const pages = globSync('**/*.md', {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|data)$/.test(name),
  });
  const broken = pages.flatMap((page) => {
    const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)]*\)/g);
    return [...links]
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(join(root, dirname(page), link)))
      .map((link) => `${page}: ${link}`);
  });
  assert.deepEqual(broken, []);
});
