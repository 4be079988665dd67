import { sql } from 'kysely';
import { migrations } from '../../src/store/migrations/index.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { once, prepared } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';

/** Tables that only the suite has: every kind of column, a foreign key, each kind of unique index. */
export type SuiteTables = {
  things: { id: string; whole: number | null; bytes: Uint8Array | null; note: string | null };
  parts: { id: string; thing: string; shelf: string; place: number };
  labels: { label: string };
};

const suiteTables: Migration = {
  number: 9001,
  name: 'suite tables',
  async up(schema, types) {
    await schema
      .createTable('things')
      .addColumn('id', types.text, (column) => column.primaryKey())
      .addColumn('whole', types.integer)
      .addColumn('bytes', types.binary)
      .addColumn('note', types.text)
      .modifyEnd(types.tableEnd)
      .execute();
    await schema
      .createTable('labels')
      .addColumn('label', types.text)
      .modifyEnd(types.tableEnd)
      .execute();
    await schema
      .createIndex('labels_label')
      .unique()
      .on('labels')
      .expression(sql`lower(label)`)
      .execute();
    await schema
      .createTable('parts')
      .addColumn('id', types.text, (column) => column.primaryKey())
      .addColumn('thing', types.text, (column) =>
        column.notNull().references('things.id').onDelete('restrict'),
      )
      .addColumn('shelf', types.text, (column) => column.notNull())
      .addColumn('place', types.integer, (column) => column.notNull())
      .addUniqueConstraint('parts_place', ['shelf', 'place'])
      .modifyEnd(types.tableEnd)
      .execute();
  },
};

export const suiteMigrations: readonly Migration[] = [...migrations, suiteTables];

export const insertThing = prepared((db, p: { id: string }) =>
  db.withTables<SuiteTables>().insertInto('things').values({ id: p.id }),
);

export const insertPart = prepared(
  (db, p: { id: string; thing: string; shelf: string; place: number }) =>
    db
      .withTables<SuiteTables>()
      .insertInto('parts')
      .values({ id: p.id, thing: p.thing, shelf: p.shelf, place: p.place }),
);

export const insertLabel = prepared((db, p: { label: string }) =>
  db.withTables<SuiteTables>().insertInto('labels').values({ label: p.label }),
);

export const setWhole = prepared((db, p: { id: string; whole: number }) =>
  db
    .withTables<SuiteTables>()
    .updateTable('things')
    .set({ whole: p.whole })
    .where('id', '=', p.id)
    .returning(['id', 'whole']),
);

export const deleteThing = prepared((db, p: { id: string }) =>
  db.withTables<SuiteTables>().deleteFrom('things').where('id', '=', p.id),
);

export function insertThings(things: readonly Partial<SuiteTables['things']>[]) {
  return once((db) =>
    db
      .withTables<SuiteTables>()
      .insertInto('things')
      .values(
        things.map(({ id = '', whole = null, bytes = null, note = null }) => ({
          id,
          whole,
          bytes,
          note,
        })),
      ),
  );
}

/** The ids of all things, in the order of the ids. */
export async function thingIds(store: Store): Promise<string[]> {
  const things = await store.read
    .withTables<SuiteTables>()
    .selectFrom('things')
    .select('id')
    .orderBy('id')
    .execute();
  return things.map(({ id }) => id);
}
