import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { DrivenStore } from '../driven-store.ts';
import { GroupCommit, type OnCommit } from '../group-commit.ts';
import { migrate } from '../migrate.ts';
import type { MigrationSet } from '../migrations/migration.ts';
import { readingDialect } from '../reading-dialect.ts';
import type { Schema } from '../schema.ts';
import type { Store } from '../store.ts';
import type { StoreLog } from '../store-log.ts';
import { translate } from './failure.ts';
import { session } from './session.ts';
import { PostgresWriter } from './writer.ts';

/** Any number, the same in every version of the service: processes that migrate wait for each other on it. */
const migrationLock = 7_236_118_430;

const readers = 10;

export async function openPostgres(
  url: string,
  migrations: MigrationSet,
  log: StoreLog | undefined,
  onCommit: OnCommit | undefined,
): Promise<Store> {
  await migrateDatabase(url, migrations);
  const pool = new pg.Pool({
    ...session(url),
    max: readers,
    options: '-c default_transaction_read_only=on',
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => log?.warn(`An idle PostgreSQL connection broke: ${error.message}`));
  const read = new Kysely<Schema>({
    dialect: readingDialect(new PostgresDialect({ pool }), translate),
  });
  const writer = new PostgresWriter(url, log);
  const commits = new GroupCommit(writer, onCommit);
  return await new DrivenStore('postgres', read, commits, () => writer.close()).opened();
}

async function migrateDatabase(url: string, migrations: MigrationSet): Promise<void> {
  const pool = new pg.Pool({ ...session(url), max: 1 });
  pool.on('error', () => undefined);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  try {
    await db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction);
      await migrate(transaction, 'postgres', migrations);
    });
  } catch (error) {
    throw translate(error);
  } finally {
    await db.destroy();
  }
}
