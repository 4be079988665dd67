import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandResult, runCommand } from './command.ts';
import { say } from './say.ts';

/** Something that cannot be set up here. The sentence says why and what to do by hand. */
export class SetupError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'SetupError';
  }
}

/** Installs what is missing of these Debian packages; `why` completes "installing <packages> …". */
export async function installDebianPackages(
  packages: readonly string[],
  why: string,
): Promise<void> {
  const missing = await missingPackages(packages);
  if (missing.length === 0) return;
  const obstacle = obstacleToInstalling();
  if (obstacle !== undefined) {
    throw new SetupError(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing ${why}, and ${obstacle}; ` +
        `install by hand: apt-get install ${missing.join(' ')}`,
    );
  }
  say(`installing ${missing.join(', ')} ${why}…`);
  await install(missing);
}

/** Why packages cannot be installed here, or undefined where they can. */
export function obstacleToInstalling(): string | undefined {
  if (process.env['REACTORD_SETUP'] === 'never') return 'REACTORD_SETUP is never';
  if (!isDebian()) return 'this is not Debian or Ubuntu';
  if (process.getuid?.() !== 0) return 'only root can install packages';
  return undefined;
}

function isDebian(): boolean {
  try {
    const release = readFileSync('/etc/os-release', 'utf8');
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release);
  } catch {
    return false;
  }
}

async function missingPackages(packages: readonly string[]): Promise<readonly string[]> {
  const { output } = await runCommand('dpkg-query', [
    '--show',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the format is dpkg's.
    '--showformat=${Package} ${db:Status-Status}\\n',
    ...packages,
  ]);
  const installed = new Set(output.split('\n'));
  return packages.filter((name) => !installed.has(`${name} installed`));
}

async function install(packages: readonly string[]): Promise<void> {
  let result = await aptGet('install', packages);
  if (result.output.includes('dpkg --configure -a')) {
    // Another installation was interrupted earlier.
    await runCommand('dpkg', ['--configure', '-a', '--force-confold'], quietDebian);
    result = await aptGet('install', packages);
  }
  if (result.code !== 0) {
    // The lists of packages are missing, as in a container image, or older than what the mirror offers.
    await updateLists();
    result = await aptGet('install', packages);
  }
  if (result.code !== 0) {
    throw new SetupError(
      `${packages.join(', ')} could not be installed (${reason(result)}); ` +
        `install by hand: apt-get update && apt-get install ${packages.join(' ')}`,
    );
  }
}

async function updateLists(): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const result = await aptGet('update', []);
    // apt waits for dpkg's lock when told to, but not for the one of its lists.
    if (result.code === 0 || !result.output.includes('Could not get lock')) return;
    await sleep(3000);
  }
}

const quietDebian = {
  DEBIAN_FRONTEND: 'noninteractive',
  // Ubuntu otherwise asks which services to restart.
  NEEDRESTART_SUSPEND: '1',
};

function aptGet(verb: string, packages: readonly string[]): Promise<CommandResult> {
  const options = [
    '--yes',
    '--quiet',
    '--no-install-recommends',
    '--option=DPkg::Lock::Timeout=300',
    '--option=Dpkg::Options::=--force-confold',
    '--option=Dpkg::Use-Pty=0',
    '--option=Acquire::Retries=3',
  ];
  return runCommand('apt-get', [verb, ...options, ...packages], quietDebian);
}

function reason({ output }: CommandResult): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const said = lines.find((line) => line.startsWith('E: ')) ?? lines.at(-1) ?? 'no reason given';
  return said.replace(/^E: /, '').replace(/\.$/, '');
}
