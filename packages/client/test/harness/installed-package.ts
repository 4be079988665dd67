import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../../../setup/build-packages.ts';

export interface Project {
  readonly folder: string;
  /** The package as it was installed. */
  readonly installed: string;
  write(name: string, content: string): void;
  dispose(): void;
}

/** An empty project into which the package was installed from its tarball, without a network. */
export function installPackage(): Project {
  const root = mkdtempSync(join(tmpdir(), 'reactord-package-'));
  const built = join(root, 'built');
  buildPackage('client', built);
  const folder = join(root, 'project');
  mkdirSync(folder);
  // npm would look at the settings of the repository, which ran it.
  const env = { PATH: process.env['PATH'], HOME: root };
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
  const tarball = npm('pack', built).trim();
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  write('package.json', '{ "name": "empty", "private": true, "type": "module" }');
  npm('install', `./${tarball}`);
  return {
    folder,
    installed: join(folder, 'node_modules/@reactord/client'),
    write,
    dispose: () => rmSync(root, { recursive: true }),
  };
}
