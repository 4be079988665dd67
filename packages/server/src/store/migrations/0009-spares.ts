import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const spares: Migration = {
  number: 9,
  name: 'spares',
  async up(schema, types) {
    await schema.alterTable('reactors').addColumn('warm', types.integer).execute();
    await schema.alterTable('executions').addColumn('spare', types.text).execute();
    // Partial: those that always have containers ready are few, and somebody looks every few seconds.
    await schema
      .createIndex('reactors_kept_ready')
      .on('reactors')
      .column('id')
      .where(sql<boolean>`(warm > 0 or kept_workers > 0)`)
      .execute();
  },
};
