import type { Migration } from '../migrations/migration.ts';

/** An execution that is tried again writes on in the same log; the counts of bytes are those of the newest try. */
export const attempts: Migration = {
  number: 2,
  name: 'attempts',
  async up(schema, types) {
    await schema
      .alterTable('logs')
      .addColumn('attempt', types.integer, (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
