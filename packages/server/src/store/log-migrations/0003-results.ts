import type { ColumnDefinitionBuilder } from 'kysely';
import type { Migration } from '../migrations/migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();

export const results: Migration = {
  number: 3,
  name: 'results',
  async up(schema, types) {
    await schema
      .createTable('result_boxes')
      .addColumn('execution_id', types.text, (column) => column.primaryKey())
      .addColumn('reactor_id', types.text, needed)
      .addColumn('seq', types.integer, needed)
      .addColumn('given', types.integer, needed)
      .addColumn('bytes', types.integer, needed)
      .addColumn('spool_worker', types.text, needed)
      .addColumn('spool_place', types.integer, needed)
      .addColumn('last_given_at', types.integer, needed)
      .modifyEnd(types.tableEnd)
      .execute();
    await schema
      .createIndex('result_boxes_reactor_id')
      .on('result_boxes')
      .columns(['reactor_id', 'seq'])
      .execute();
    await schema
      .createIndex('result_boxes_last_given_at')
      .on('result_boxes')
      .column('last_given_at')
      .execute();
    await schema
      .createTable('results')
      .addColumn('execution_id', types.text, needed)
      .addColumn('place', types.integer, needed)
      .addColumn('body', types.binary, needed)
      .addPrimaryKeyConstraint('results_pkey', ['execution_id', 'place'])
      .modifyEnd(types.tableEnd)
      .execute();
  },
};
