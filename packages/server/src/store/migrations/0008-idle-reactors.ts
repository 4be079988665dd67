import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const idleReactors: Migration = {
  number: 8,
  name: 'idle reactors',
  async up(schema, types) {
    await schema
      .alterTable('reactors')
      .addColumn('remove_when_idle', types.integer, (column) => column.notNull().defaultTo(0))
      .execute();
    // Partial: few reactors are marked, and somebody looks for them again and again.
    await schema
      .createIndex('reactors_remove_when_idle')
      .on('reactors')
      .column('updated_at')
      .where(sql.ref('remove_when_idle'), '=', sql.lit(1))
      .execute();
  },
};
