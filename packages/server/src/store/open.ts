import { join } from 'node:path';
import type { OnCommit } from './group-commit.ts';
import { logMigrations } from './log-migrations/index.ts';
import { migrations as allMigrations } from './migrations/index.ts';
import type { Migration, MigrationSet } from './migrations/migration.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { Store } from './store.ts';
import type { StoreLog } from './store-log.ts';

export interface StoreOptions {
  /** postgres://… or postgresql://…, or else the path of a SQLite file; undefined: reactord.db in the data folder. */
  readonly database: string | undefined;
  readonly dataFolder: string;
  readonly log?: StoreLog | undefined;
  readonly onCommit?: OnCommit | undefined;
  /** Other steps than the service's own, for the tests of the runner. */
  readonly migrations?: readonly Migration[];
}

/** What SQLite's files are called in the data folder. */
export const storeFile = 'reactord.db';
export const logFile = 'logs.db';

/** Opens the store and brings its schema up to date. */
export function openStore(options: StoreOptions): Promise<Store> {
  const { database, dataFolder, log, onCommit, migrations = allMigrations } = options;
  const set: MigrationSet = { ledger: 'schema_migrations', migrations };
  if (isPostgres(database)) return openPostgres(database, set, log, onCommit);
  return openSqlite(database ?? join(dataFolder, storeFile), set, onCommit);
}

/**
 * Opens the database of the logs, so that much output never holds up a message: on SQLite a file with a writer thread
 * of its own, on PostgreSQL the same database over a writing connection of its own.
 */
export function openLogDatabase(options: Omit<StoreOptions, 'migrations'>): Promise<Store> {
  const { database, dataFolder, log, onCommit } = options;
  const set: MigrationSet = { ledger: 'log_schema_migrations', migrations: logMigrations };
  if (isPostgres(database)) return openPostgres(database, set, log, onCommit);
  return openSqlite(join(dataFolder, logFile), set, onCommit, { shrinks: true });
}

export function isPostgres(database: string | undefined): database is string {
  return database !== undefined && /^postgres(ql)?:\/\//i.test(database);
}
