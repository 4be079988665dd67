import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorsPage } from './errors-page.ts';
import { settingsPage } from './settings-page.ts';

/** Fails when a page of the reference is not what the code says; with --write, writes the pages (npm run docs). */

const root = join(import.meta.dirname, '..');
const pages: Readonly<Record<string, () => string>> = {
  'docs/reference/settings.md': settingsPage,
  'docs/reference/errors.md': errorsPage,
};

function readPage(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
}

const stale = Object.entries(pages)
  .map(([path, make]) => ({ path, content: make() }))
  .filter(({ path, content }) => readPage(path) !== content);

for (const { path, content } of stale) {
  if (process.argv.includes('--write')) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    process.stdout.write(`wrote ${path}\n`);
  } else {
    process.stderr.write(`${path} is not what the code says; run \`npm run docs\`.\n`);
    process.exitCode = 1;
  }
}
