import { join } from 'node:path';
import type { OnCommit } from './group-commit.ts';
import { migrations as allMigrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
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

/** Opens the store and brings its schema up to date. */
export function openStore(options: StoreOptions): Promise<Store> {
  const { database, dataFolder, log, onCommit, migrations = allMigrations } = options;
  if (database !== undefined && /^postgres(ql)?:\/\//i.test(database)) {
    return openPostgres(database, migrations, log, onCommit);
  }
  return openSqlite(database ?? join(dataFolder, 'reactord.db'), migrations, onCommit);
}
