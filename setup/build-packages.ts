import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './say.ts';

/**
 * npm run build: makes of each package that is for others what goes to the registry, in packages/<name>/dist: JavaScript,
 * types, source maps, and a package.json that points to them. In the repository nothing needs it: there the packages point
 * to their TypeScript. `npm pack ./packages/<name>/dist` makes the tarball.
 */

const root = join(import.meta.dirname, '..');

/** Builds the package into a folder, which is emptied first. */
export function buildPackage(name: string, folder = join(root, 'packages', name, 'dist')): void {
  const source = join(root, 'packages', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(join(source, 'tsconfig.build.json'), folder);
  for (const file of globSync('**/*.d.ts', { cwd: folder })) pointToJavaScript(join(folder, file));
  const manifest = published(JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(source, 'README.md'), join(folder, 'README.md'));
}

function compile(project: string, folder: string): void {
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { status, stdout, error } = spawnSync(tsc, ['-p', project, '--outDir', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`tsc -p ${project}: ${error?.message ?? stdout}`);
}

/** tsc leaves the names in declarations as they are, and not every compiler finds a `.d.ts` behind a `.ts`. */
function pointToJavaScript(path: string): void {
  const declared = readFileSync(path, 'utf8');
  writeFileSync(path, declared.replaceAll(/(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g, '$1$2.js$1'));
}

type Json = ReturnType<typeof JSON.parse>;

function published({ private: _own, scripts: _ours, devDependencies: _too, ...manifest }: Json) {
  const { exports = {}, bin } = manifest;
  return {
    ...manifest,
    files: ['**/*.js', '**/*.d.ts', '**/*.map'],
    exports: Object.fromEntries(
      Object.entries<string>(exports).map(([entry, path]) => [entry, built(path)]),
    ),
    ...(bin !== undefined && {
      bin: Object.fromEntries(
        Object.entries<string>(bin).map(([command, path]) => [command, built(path).default]),
      ),
    }),
  };
}

function built(path: string): { readonly types: string; readonly default: string } {
  const inside = path.replace(/^\.\/src\//, './').replace(/\.ts$/, '');
  return { types: `${inside}.d.ts`, default: `${inside}.js` };
}

if (import.meta.main) {
  for (const project of globSync('packages/*/tsconfig.build.json', { cwd: root })) {
    const name = project.split('/')[1] ?? '';
    buildPackage(name);
    say(`built packages/${name}/dist`);
  }
}
