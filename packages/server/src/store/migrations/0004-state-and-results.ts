import type { Migration } from './migration.ts';

/** The results themselves are beside the logs: they can be large, and must not hold up a message. */
export const stateAndResults: Migration = {
  number: 4,
  name: 'state-and-results',
  async up(schema, types) {
    // Apart from the reactor's row, which every message changes and so writes again.
    await schema
      .createTable('reactor_states')
      .addColumn('reactor_id', types.text, (column) =>
        column.primaryKey().references('reactors.id').onDelete('cascade'),
      )
      .addColumn('version', types.integer, (column) => column.notNull())
      .addColumn('updated_at', types.integer, (column) => column.notNull())
      .addColumn('state', types.text, (column) => column.notNull())
      .modifyEnd(types.tableEnd)
      .execute();
  },
};
