import { type ColumnDefinitionBuilder, type SchemaModule, sql } from 'kysely';
import type { ColumnTypes, Migration } from './migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();
const key = (column: ColumnDefinitionBuilder) => column.primaryKey();
const belongsTo =
  (table: string, to = 'id') =>
  (column: ColumnDefinitionBuilder) =>
    column.notNull().references(`${table}.${to}`).onDelete('cascade');
const mayBelongTo = (table: string, to: string) => (column: ColumnDefinitionBuilder) =>
  column.references(`${table}.${to}`).onDelete('cascade');
const level = (column: ColumnDefinitionBuilder) =>
  column.notNull().check(sql`level in ('READ', 'EXECUTE', 'UPDATE')`);
const worldLevel = (column: ColumnDefinitionBuilder) =>
  column.check(sql`world_level in ('READ', 'EXECUTE', 'UPDATE')`);

export const sharing: Migration = {
  number: 5,
  name: 'sharing',
  async up(schema, types) {
    await widenReactors(schema, types);
    await createPermissions(schema, types);
    await createAliases(schema, types);
    await createNonces(schema, types);
    await createConfigs(schema, types);
  },
};

async function widenReactors(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema.alterTable('reactors').addColumn('world_level', types.text, worldLevel).execute();
  await schema.alterTable('reactors').addColumn('registry_credentials', types.text).execute();
  // Partial: what everyone may see is little beside all there is.
  await schema
    .createIndex('reactors_world')
    .on('reactors')
    .columns(['created_at', 'id'])
    .where(sql.ref('world_level'), 'is not', null)
    .execute();
}

async function createPermissions(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('reactor_permissions')
    .addColumn('reactor_id', types.text, belongsTo('reactors'))
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('level', types.text, level)
    .addColumn('reactor_created_at', types.integer, needed)
    .addPrimaryKeyConstraint('reactor_permissions_pkey', ['reactor_id', 'user_id'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createIndex('reactor_permissions_user_id')
    .on('reactor_permissions')
    .columns(['user_id', 'reactor_created_at', 'reactor_id'])
    .execute();
}

async function createAliases(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('aliases')
    .addColumn('alias', types.text, key)
    .addColumn('reactor_id', types.text, belongsTo('reactors'))
    .addColumn('owner_id', types.text, belongsTo('users'))
    .addColumn('world_level', types.text, worldLevel)
    .addColumn('created_at', types.integer, needed)
    .addColumn('updated_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema.createIndex('aliases_reactor_id').on('aliases').column('reactor_id').execute();
  await schema.createIndex('aliases_owner_id').on('aliases').column('owner_id').execute();
  await schema
    .createTable('alias_permissions')
    .addColumn('alias', types.text, belongsTo('aliases', 'alias'))
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('level', types.text, level)
    .addPrimaryKeyConstraint('alias_permissions_pkey', ['alias', 'user_id'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createIndex('alias_permissions_user_id')
    .on('alias_permissions')
    .column('user_id')
    .execute();
}

async function createNonces(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('nonces')
    .addColumn('hash', types.binary, key)
    .addColumn('sealed', types.binary, needed)
    .addColumn('key_id', types.text, needed)
    .addColumn('reactor_id', types.text, mayBelongTo('reactors', 'id'))
    .addColumn('alias', types.text, mayBelongTo('aliases', 'alias'))
    .addColumn('owner_id', types.text, belongsTo('users'))
    .addColumn('client_id', types.text)
    .addColumn('level', types.text, level)
    .addColumn('max_uses', types.integer, needed)
    .addColumn('current_uses', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('description', types.text, (column) => column.notNull().defaultTo(''))
    .addColumn('created_at', types.integer, needed)
    .addColumn('last_used_at', types.integer)
    .modifyEnd(types.tableEnd)
    .execute();
  for (const column of ['reactor_id', 'alias', 'owner_id'])
    await schema.createIndex(`nonces_${column}`).on('nonces').column(column).execute();
}

async function createConfigs(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('configs')
    .addColumn('id', types.text, key)
    .addColumn('owner_id', types.text, belongsTo('users'))
    .addColumn('name', types.text, needed)
    .addColumn('is_secret', types.integer, needed)
    .addColumn('value', types.text)
    .addColumn('sealed', types.binary)
    .addColumn('key_id', types.text)
    .addColumn('size', types.integer, needed)
    .addColumn('created_at', types.integer, needed)
    .addColumn('updated_at', types.integer, needed)
    .addUniqueConstraint('configs_owner_id_name_unique', ['owner_id', 'name'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('config_reactors')
    .addColumn('config_id', types.text, belongsTo('configs'))
    .addColumn('reactor_id', types.text, belongsTo('reactors'))
    .addColumn('name', types.text, needed)
    .addPrimaryKeyConstraint('config_reactors_pkey', ['config_id', 'reactor_id'])
    .addUniqueConstraint('config_reactors_reactor_id_name_unique', ['reactor_id', 'name'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('execution_secrets')
    .addColumn('execution_id', types.text, (column) =>
      column.primaryKey().references('executions.id').onDelete('cascade'),
    )
    .addColumn('sealed', types.binary, needed)
    .addColumn('key_id', types.text, needed)
    .modifyEnd(types.tableEnd)
    .execute();
}
