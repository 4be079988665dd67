import { type ColumnDefinitionBuilder, type SchemaModule, sql } from 'kysely';
import type { ColumnTypes, Migration } from './migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();
const key = (column: ColumnDefinitionBuilder) => column.primaryKey();
/** The row goes with the one that it belongs to. */
const belongsTo = (table: string) => (column: ColumnDefinitionBuilder) =>
  column.notNull().references(`${table}.id`).onDelete('cascade');

export const authorization: Migration = {
  number: 2,
  name: 'authorization',
  async up(schema, types) {
    await createClients(schema, types);
    await createTokens(schema, types);
    await createLogin(schema, types);
    await createShared(schema, types);
  },
};

async function createClients(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('clients')
    .addColumn('id', types.text, key)
    .addColumn('owner_id', types.text, belongsTo('users'))
    .addColumn('name', types.text, needed)
    .addColumn('description', types.text, (column) => column.notNull().defaultTo(''))
    .addColumn('callback_urls', types.text, (column) => column.notNull().defaultTo('[]'))
    .addColumn('key', types.text, (column) => column.notNull().unique())
    .addColumn('secret_hash', types.binary, needed)
    .addColumn('previous_secret_hash', types.binary)
    .addColumn('previous_secret_until', types.integer)
    .addColumn('tier', types.text, needed)
    .addColumn('flows', types.text, needed)
    .addColumn('require_pkce', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', types.integer, needed)
    .addColumn('updated_at', types.integer, needed)
    .addUniqueConstraint('clients_owner_id_name_unique', ['owner_id', 'name'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('subscriptions')
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('api', types.text, needed)
    .addColumn('created_at', types.integer, needed)
    .addPrimaryKeyConstraint('subscriptions_pkey', ['client_id', 'api'])
    .modifyEnd(types.tableEnd)
    .execute();
}

async function createTokens(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('authorizations')
    .addColumn('id', types.text, key)
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('flow', types.text, needed)
    .addColumn('scope', types.text, needed)
    .addColumn('created_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('access_tokens')
    .addColumn('hash', types.binary, key)
    .addColumn('authorization_id', types.text, (column) =>
      column.references('authorizations.id').onDelete('cascade'),
    )
    .addColumn('client_id', types.text, (column) =>
      column.references('clients.id').onDelete('cascade'),
    )
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('flow', types.text, needed)
    .addColumn('scope', types.text, needed)
    .addColumn('issued_at', types.integer, needed)
    .addColumn('expires_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('refresh_tokens')
    .addColumn('hash', types.binary, key)
    .addColumn('authorization_id', types.text, belongsTo('authorizations'))
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('scope', types.text, needed)
    .addColumn('issued_at', types.integer, needed)
    .addColumn('last_used_at', types.integer, needed)
    .addColumn('expires_at', types.integer)
    .addColumn('replaced_at', types.integer)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('authorization_codes')
    .addColumn('hash', types.binary, key)
    .addColumn('authorization_id', types.text, needed)
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('redirect_uri', types.text, needed)
    .addColumn('scope', types.text, needed)
    .addColumn('code_challenge', types.text)
    .addColumn('issued_at', types.integer, needed)
    .addColumn('expires_at', types.integer, needed)
    .addColumn('used_at', types.integer)
    .modifyEnd(types.tableEnd)
    .execute();
  // Deleting a client, a user or an authorization finds its tokens, and the purge finds the expired ones.
  for (const table of [
    'authorizations',
    'access_tokens',
    'refresh_tokens',
    'authorization_codes',
  ]) {
    await schema.createIndex(`${table}_client_id`).on(table).column('client_id').execute();
    await schema.createIndex(`${table}_user_id`).on(table).column('user_id').execute();
  }
  for (const table of ['access_tokens', 'refresh_tokens', 'authorization_codes']) {
    await schema
      .createIndex(`${table}_authorization_id`)
      .on(table)
      .column('authorization_id')
      .execute();
    await schema.createIndex(`${table}_expires_at`).on(table).column('expires_at').execute();
  }
}

async function createLogin(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('sessions')
    .addColumn('hash', types.binary, key)
    .addColumn('user_id', types.text, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('created_at', types.integer, needed)
    .addColumn('last_seen_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema.createIndex('sessions_user_id').on('sessions').column('user_id').execute();
  await schema.createIndex('sessions_last_seen_at').on('sessions').column('last_seen_at').execute();
  await schema
    .createTable('authorization_requests')
    .addColumn('id', types.text, key)
    .addColumn('session_hash', types.binary, needed)
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('response_type', types.text, needed)
    .addColumn('redirect_uri', types.text, needed)
    .addColumn('scope', types.text, needed)
    .addColumn('state', types.text)
    .addColumn('code_challenge', types.text)
    .addColumn('show_dialog', types.integer, needed)
    .addColumn('created_at', types.integer, needed)
    .addColumn('expires_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createIndex('authorization_requests_expires_at')
    .on('authorization_requests')
    .column('expires_at')
    .execute();
  // Login and log-out carry over what waits in a session.
  await schema
    .createIndex('authorization_requests_session_hash')
    .on('authorization_requests')
    .column('session_hash')
    .execute();
  await schema
    .createTable('consents')
    .addColumn('user_id', types.text, belongsTo('users'))
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('scope', types.text, needed)
    .addColumn('redirect_uri', types.text, needed)
    .addColumn('created_at', types.integer, needed)
    .addColumn('last_used_at', types.integer, needed)
    .addPrimaryKeyConstraint('consents_pkey', ['user_id', 'client_id', 'scope', 'redirect_uri'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createTable('device_codes')
    .addColumn('hash', types.binary, key)
    .addColumn('user_code', types.text, (column) => column.notNull().unique())
    .addColumn('client_id', types.text, belongsTo('clients'))
    .addColumn('scope', types.text, needed)
    .addColumn('status', types.text, (column) =>
      column.notNull().check(sql`status in ('pending', 'approved', 'denied', 'used')`),
    )
    .addColumn('user_id', types.text, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('created_at', types.integer, needed)
    .addColumn('expires_at', types.integer, needed)
    .addColumn('last_polled_at', types.integer)
    .addColumn('poll_interval', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  // The database looks for what goes with a deleted client.
  for (const table of ['authorization_requests', 'consents', 'device_codes']) {
    await schema.createIndex(`${table}_client_id`).on(table).column('client_id').execute();
  }
}

async function createShared(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('access_changes')
    .addColumn('id', types.integer, key)
    .addColumn('kind', types.text, needed)
    .addColumn('subject', types.text, needed)
    .addColumn('at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema.createIndex('access_changes_at').on('access_changes').column('at').execute();
  await schema
    .createTable('service_keys')
    .addColumn('name', types.text, key)
    .addColumn('value', types.binary, needed)
    .addColumn('created_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
}
