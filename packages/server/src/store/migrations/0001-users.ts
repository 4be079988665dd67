import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const users: Migration = {
  number: 1,
  name: 'users',
  async up(schema, types) {
    await schema
      .createTable('counters')
      .addColumn('name', types.text, (column) => column.primaryKey())
      .addColumn('value', types.integer, (column) => column.notNull())
      .modifyEnd(types.tableEnd)
      .execute();
    await schema
      .createTable('users')
      .addColumn('id', types.text, (column) => column.primaryKey())
      .addColumn('uid', types.integer, (column) => column.notNull().unique())
      .addColumn('username', types.text, (column) => column.notNull().unique())
      .addColumn('password_hash', types.text, (column) => column.notNull())
      .addColumn('email', types.text, (column) => column.notNull().defaultTo(''))
      .addColumn('first_name', types.text, (column) => column.notNull().defaultTo(''))
      .addColumn('last_name', types.text, (column) => column.notNull().defaultTo(''))
      .addColumn('phone', types.text, (column) => column.notNull().defaultTo(''))
      .addColumn('mobile_phone', types.text, (column) => column.notNull().defaultTo(''))
      .addColumn('details', types.text, (column) => column.notNull().defaultTo('{}'))
      .addColumn('status', types.text, (column) =>
        column.notNull().defaultTo('active').check(sql`status in ('active', 'disabled')`),
      )
      .addColumn('roles', types.text, (column) => column.notNull().defaultTo('[]'))
      .addColumn('grants', types.text, (column) => column.notNull().defaultTo('[]'))
      .addColumn('revision', types.integer, (column) => column.notNull().defaultTo(1))
      .addColumn('password_changed_at', types.integer, (column) => column.notNull())
      .addColumn('created_at', types.integer, (column) => column.notNull())
      .addColumn('updated_at', types.integer, (column) => column.notNull())
      .modifyEnd(types.tableEnd)
      .execute();
    // Two people must not be told apart by the case of a letter alone.
    await schema
      .createIndex('users_username_any_case')
      .unique()
      .on('users')
      .expression(sql`lower(username)`)
      .execute();
  },
};
