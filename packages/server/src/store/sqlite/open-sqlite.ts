import { Kysely } from 'kysely';
import { DrivenStore } from '../driven-store.ts';
import { GroupCommit, type OnCommit } from '../group-commit.ts';
import { migrate } from '../migrate.ts';
import type { MigrationSet } from '../migrations/migration.ts';
import { readingDialect } from '../reading-dialect.ts';
import type { Schema } from '../schema.ts';
import type { Store } from '../store.ts';
import { connectToRead, connectToWrite, makeFile } from './connection.ts';
import { translate } from './failure.ts';
import { kyselyDialect } from './kysely-dialect.ts';
import { SqliteWriter } from './writer.ts';

export async function openSqlite(
  file: string,
  migrations: MigrationSet,
  onCommit: OnCommit | undefined,
  { shrinks = false }: { readonly shrinks?: boolean } = {},
): Promise<Store> {
  try {
    makeFile(file, { shrinks });
    await migrateFile(file, migrations);
    const read = new Kysely<Schema>({
      dialect: readingDialect(kyselyDialect(connectToRead(file)), translate),
    });
    const writer = new SqliteWriter(file);
    const commits = new GroupCommit(writer, onCommit);
    return await new DrivenStore('sqlite', read, commits, () => writer.close()).opened();
  } catch (error) {
    throw translate(error);
  }
}

async function migrateFile(file: string, migrations: MigrationSet): Promise<void> {
  const db = connectToWrite(file);
  try {
    // IMMEDIATE takes the write lock now: a second process waits here, and then finds the work done.
    db.exec('BEGIN IMMEDIATE');
    const schema = new Kysely<Schema>({ dialect: kyselyDialect(db) });
    await migrate(schema, 'sqlite', migrations);
    db.exec('COMMIT');
  } finally {
    // Closing rolls back what has not been committed.
    db.close();
  }
}
