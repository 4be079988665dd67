import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clientTypes } from './client-types.ts';
import { commandLinePage } from './command-line-page.ts';
import { errorsPage } from './errors-page.ts';
import { settingsPage } from './settings-page.ts';

/**
 * Fails when a page of the reference, or the client's types, are not what the code says; with --write, writes them (npm run
 * docs).
 */

const root = join(import.meta.dirname, '..');
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/settings.md': settingsPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/command-line.md': commandLinePage,
  'packages/client/src/generated/api.ts': clientTypes,
};

function readPage(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
}

const made = await Promise.all(
  Object.entries(pages).map(async ([path, make]) => ({ path, content: await make() })),
);
const stale = made.filter(({ path, content }) => readPage(path) !== content);

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
