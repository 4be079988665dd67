import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import { installDebianPackages, SetupError } from '../debian.ts';

/** A small Debian, the machine's own release from the machine's own mirror, with these packages. */
export async function debootstrapInto(root: string, packages: readonly string[]): Promise<void> {
  await installDebianPackages(['debootstrap'], 'for the base of images');
  const { mirror, suite, components } = await machineMirror();
  const { code, output } = await runCommand('debootstrap', [
    '--variant=minbase',
    `--components=${components.join(',')}`,
    `--include=${packages.join(',')}`,
    suite,
    root,
    mirror,
  ]);
  if (code !== 0) {
    const reason = output.trim().split('\n').at(-1) ?? 'no reason given';
    throw new SetupError(
      `debootstrap could not make a Debian with ${packages.join(' and ')} from ${mirror} (${reason}).`,
    );
  }
  // What only an installation needs, and device files, which the engine makes itself.
  for (const path of [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'dev',
  ])
    rmSync(join(root, path), { recursive: true, force: true });
}

/** Where this machine's packages come from: apt knows, however its lists are written. */
async function machineMirror(): Promise<{ mirror: string; suite: string; components: string[] }> {
  const { output } = await runCommand('apt-get', [
    'indextargets',
    '--format=$(REPO_URI) $(CODENAME) $(COMPONENT)',
    'Created-By: Packages',
  ]);
  const lines = output.split('\n').map((line) => line.split(' '));
  const suite = await codename();
  const fitting = lines.filter(([, codenameOfLine]) => codenameOfLine === suite);
  const mirror = fitting[0]?.[0];
  if (mirror === undefined)
    throw new SetupError(
      `apt has no list of packages for ${suite || 'this release'}; run apt-get update.`,
    );
  const components = fitting
    .filter(([uri]) => uri === mirror)
    .map(([, , component = 'main']) => component);
  return { mirror, suite, components: [...new Set(components)] };
}

async function codename(): Promise<string> {
  const { output } = await runCommand('sh', ['-c', '. /etc/os-release; echo "$VERSION_CODENAME"']);
  return output.trim();
}
