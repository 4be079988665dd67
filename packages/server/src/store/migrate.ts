import type { Kysely } from 'kysely';
import type { Dialect } from './dialect.ts';
import { columnTypes, type Migration, type MigrationSet } from './migrations/migration.ts';
import type { Schema } from './schema.ts';
import { SchemaTooNew } from './store-errors.ts';

// A type and not an interface: Kysely's withTables asks for an index signature.
type WithMigrations = Record<
  MigrationSet['ledger'],
  { number: number; name: string; applied_at: number }
>;

/**
 * Brings the schema up to date. The caller holds the database's migration lock and an open transaction, which it
 * commits afterwards: a process killed in the middle leaves nothing behind, and a second one finds nothing to do.
 */
export async function migrate(
  db: Kysely<Schema>,
  dialect: Dialect,
  { ledger, migrations }: MigrationSet,
): Promise<readonly Migration[]> {
  const types = columnTypes[dialect];
  const log = db.withTables<WithMigrations>();
  await db.schema
    .createTable(ledger)
    .ifNotExists()
    .addColumn('number', types.integer, (column) => column.primaryKey())
    .addColumn('name', types.text, (column) => column.notNull())
    .addColumn('applied_at', types.integer, (column) => column.notNull())
    .modifyEnd(types.tableEnd)
    .execute();
  const found = await log
    .selectFrom(ledger)
    .select(({ fn }) => fn.max('number').as('number'))
    .executeTakeFirst();
  const current = found?.number ?? 0;
  const known = migrations.at(-1)?.number ?? 0;
  if (current > known) throw new SchemaTooNew(current, known);
  const pending = migrations.filter(({ number }) => number > current);
  for (const migration of pending) {
    await migration.up(db.schema, types);
    await log
      .insertInto(ledger)
      .values({ number: migration.number, name: migration.name, applied_at: Date.now() })
      .execute();
  }
  return pending;
}
