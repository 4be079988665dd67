import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Finding, reasonOf, well, worrying, wrong } from './finding.ts';

/** A service that has the data folder now. */
export interface Holder {
  readonly pid: number;
  readonly address: string;
}

/** Who has the folder, if the process still lives. */
export function holderOf(folder: string): Holder | undefined {
  try {
    const about: unknown = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8'));
    if (typeof about !== 'object' || about === null) return undefined;
    if (!('pid' in about) || !('address' in about)) return undefined;
    const pid = Number(about.pid);
    return isAlive(pid) ? { pid, address: String(about.address) } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

export function checkDataFolder(folder: string): Finding {
  const check = 'data folder';
  const elsewhere =
    'give it to the user that runs reactord (chown), or set REACTORD_DATA to another folder.';
  const existing = nearestExisting(folder);
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return wrong(
      check,
      `${existing} cannot be written (${reasonOf(error)}).`,
      `Please ${elsewhere}`,
    );
  }
  if (existing !== folder) return well(check, `${folder} is made at the first start.`);
  const facts = statSync(folder);
  if (!facts.isDirectory())
    return wrong(check, `${folder} is not a folder.`, 'Set REACTORD_DATA to a folder.');
  const holder = holderOf(folder);
  const use = holder === undefined ? '' : `, in use by process ${holder.pid} at ${holder.address}`;
  if ((facts.mode & 0o077) !== 0)
    return worrying(
      check,
      `${folder} can be read by others${use}, and it holds keys.`,
      `Close it with: chmod 700 ${folder}`,
    );
  return well(check, `${folder} can be written${use}.`);
}

const least = 256 * 1024 ** 2;
const comfortable = 2 * 1024 ** 3;

/** Room on the disk on which the folder is, or would be. */
export function checkDisk(what: string, folder: string): Finding {
  const check = `disk of ${what}`;
  const todo = 'Make room there, or move it to a larger disk.';
  try {
    const facts = statfsSync(nearestExisting(folder));
    const free = facts.bavail * facts.bsize;
    const found = `${inWords(free)} are free at ${folder}.`;
    if (facts.files > 0 && facts.ffree < 1_000)
      return wrong(check, `Only ${facts.ffree} more files fit on the disk of ${folder}.`, todo);
    if (free < least) return wrong(check, found, todo);
    return free < comfortable ? worrying(check, found, todo) : well(check, found);
  } catch (error) {
    return worrying(check, `${folder} cannot be looked at (${reasonOf(error)}).`, todo);
  }
}

function nearestExisting(folder: string): string {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

export function inWords(bytes: number): string {
  const [size, unit] = bytes >= 1024 ** 3 ? [bytes / 1024 ** 3, 'GiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
