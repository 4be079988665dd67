import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Installs packages of the distribution, saying why they are needed. */
export async function installDebianPackages(
  packages: readonly string[],
  why: string,
): Promise<void> {
  console.error(`Installing ${packages.join(', ')}: ${why}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env });
}
