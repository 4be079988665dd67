import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The folder is in use or cannot be used; the sentence says which, and what to do. */
export class DataFolderError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DataFolderError';
  }
}

export interface DataFolder {
  readonly path: string;
  /** Writes down where this service is reached, for people, tools and the next process that tries the folder. */
  announce(address: string): void;
  release(): void;
}

/**
 * Takes the folder for this process alone. The lock is one that the kernel drops when the process dies, however it
 * dies, so a crash leaves nothing to clean up. Node has no flock, SQLite does: an exclusive transaction holds it.
 */
export function openDataFolder(given: string): DataFolder {
  const path = resolve(given);
  makeFolder(path);
  const lock = new DatabaseSync(join(path, 'lock'));
  const about = join(path, 'service.json');
  try {
    // The journal in memory: nothing is ever written, and no second file appears.
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new DataFolderError(explain(error, path, about));
  }
  chmodSync(join(path, 'lock'), 0o600);
  return {
    path,
    announce: (address) =>
      writeFileSync(about, `${JSON.stringify({ pid: process.pid, address })}\n`, { mode: 0o600 }),
    release: () => {
      rmSync(about, { force: true });
      lock.close();
    },
  };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DataFolderError(
      `The data folder ${path} cannot be made (${reason}); set REACTORD_DATA to a folder that can.`,
    );
  }
}

function explain(error: unknown, path: string, about: string): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (!/locked/i.test(reason)) return `The data folder ${path} cannot be used: ${reason}.`;
  return `The data folder ${path} is in use by another reactord${whoHolds(about)}; stop that one, or set REACTORD_DATA to another folder.`;
}

function whoHolds(about: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(about, 'utf8'));
    if (typeof holder !== 'object' || holder === null) return '';
    const pid = 'pid' in holder ? `process ${String(holder.pid)}` : '';
    const address = 'address' in holder ? `, ${String(holder.address)}` : '';
    return ` (${pid}${address})`;
  } catch {
    return '';
  }
}
