import type { ColumnDefinitionBuilder } from 'kysely';
import type { Migration } from '../migrations/migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();

export const logs: Migration = {
  number: 1,
  name: 'logs',
  async up(schema, types) {
    await schema
      .createTable('logs')
      .addColumn('execution_id', types.text, (column) => column.primaryKey())
      .addColumn('raw_stdout', types.integer, needed)
      .addColumn('raw_stderr', types.integer, needed)
      .addColumn('dropped_stdout', types.integer, needed)
      .addColumn('dropped_stderr', types.integer, needed)
      .addColumn('size', types.integer, needed)
      .addColumn('size_limit', types.integer, needed)
      .addColumn('started_at', types.integer, needed)
      .addColumn('expires_at', types.integer)
      .modifyEnd(types.tableEnd)
      .execute();
    await schema.createIndex('logs_expires_at').on('logs').column('expires_at').execute();
    // The body comes last: SQLite finds the columns before it without reading it.
    await schema
      .createTable('log_chunks')
      .addColumn('execution_id', types.text, needed)
      .addColumn('start', types.integer, needed)
      .addColumn('size', types.integer, needed)
      .addColumn('stdout_lines', types.integer, needed)
      .addColumn('stderr_lines', types.integer, needed)
      .addColumn('parts', types.text, needed)
      .addColumn('body', types.binary, needed)
      .addPrimaryKeyConstraint('log_chunks_pkey', ['execution_id', 'start'])
      .modifyEnd(types.tableEnd)
      .execute();
  },
};
