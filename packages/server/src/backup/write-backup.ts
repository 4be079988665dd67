import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../identity/command-errors.ts';
import { copyStore } from '../store/copy-store.ts';

/** Without the first, secrets cannot be read; by the second, a service knows what it has claimed. */
const smallFiles = ['secrets.key', 'instance'];

export interface Backup {
  readonly files: readonly string[];
  /** The store is in a database that is backed up with tools of its own. */
  readonly withoutStore: boolean;
}

/** Writes a backup into a folder that is not there yet. It has its name only once it is complete and on the disk. */
export function writeBackup(
  service: { readonly database: string | undefined; readonly dataFolder: string },
  folder: string,
): Backup {
  if (existsSync(folder))
    throw new CommandError(`${folder} is there already; name a folder that is not.`);
  const draft = `${folder}.unfinished`;
  rmSync(draft, { recursive: true, force: true });
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const small = smallFiles.filter((name) => existsSync(join(service.dataFolder, name)));
    for (const name of small) {
      copyFileSync(join(service.dataFolder, name), join(draft, name));
      sync(join(draft, name));
    }
    const databases = copyStore(service, draft);
    sync(draft);
    renameSync(draft, folder);
    sync(dirname(folder));
    return { files: [...(databases ?? []), ...small], withoutStore: databases === undefined };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${folder} could not be written (${reason}).`);
  }
}

function sync(path: string): void {
  const open = openSync(path, 'r');
  fsyncSync(open);
  closeSync(open);
}
