import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** How long a statement waits for another process that holds the file. */
const busyMilliseconds = 10_000;

/**
 * Makes the file where there is none, for its owner only. SQLite gives the files beside it the same mode.
 * `shrinks`: what is deleted gives its space back, in the commit that deletes it. It is decided once, in an empty file.
 */
export function makeFile(file: string, { shrinks }: { shrinks: boolean }): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  if (!shrinks || statSync(file).size > 0) return;
  const db = new DatabaseSync(file, { timeout: busyMilliseconds });
  // Only with the first table does the choice reach the file.
  db.exec('PRAGMA auto_vacuum = FULL; VACUUM');
  db.close();
}

export function connectToWrite(file: string): DatabaseSync {
  const db = new DatabaseSync(file, {
    timeout: busyMilliseconds,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
  });
  turnOnWal(db);
  // NORMAL would lose the last commits with the power; FULL syncs the log before each commit returns.
  db.exec('PRAGMA synchronous = FULL');
  // Moving the log into the file every 32 MiB and not every 4: pages that change again and again move once.
  db.exec('PRAGMA wal_autocheckpoint = 8000');
  return db;
}

export function connectToRead(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: busyMilliseconds });
}

/** A prepared statement. Whether it returns rows is asked once: node:sqlite makes objects for each column to say so. */
export interface Ready {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

export function prepare(db: DatabaseSync, sql: string): Ready {
  const statement = db.prepare(sql);
  return { statement, returnsRows: statement.columns().length > 0 };
}

/** Keeps the statements used last, prepared. The garbage collector finalizes those that were dropped. */
export class StatementCache {
  readonly #db: DatabaseSync;
  readonly #most: number;
  readonly #ready = new Map<string, Ready>();

  constructor(db: DatabaseSync, most: number) {
    this.#db = db;
    this.#most = most;
  }

  get(sql: string): Ready {
    const known = this.#ready.get(sql);
    const ready = known ?? prepare(this.#db, sql);
    // A Map keeps the order of insertion, so the first key is the one unused for longest.
    if (known !== undefined) this.#ready.delete(sql);
    this.#ready.set(sql, ready);
    if (this.#ready.size > this.#most) {
      for (const oldest of this.#ready.keys()) {
        this.#ready.delete(oldest);
        break;
      }
    }
    return ready;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/** SQLite does not wait for others when it changes the journal mode, whatever the timeout: so we do. */
function turnOnWal(db: DatabaseSync): void {
  const giveUp = performance.now() + busyMilliseconds;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUp) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
