import { type ColumnDefinitionBuilder, type SchemaModule, sql } from 'kysely';
import type { ColumnTypes, Migration } from './migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();
const key = (column: ColumnDefinitionBuilder) => column.primaryKey();
const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);
const noText = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo('');

export const eventsAndSchedules: Migration = {
  number: 7,
  name: 'events and schedules',
  async up(schema, types) {
    await extendReactors(schema, types);
    await createEvents(schema, types);
    await createDeliveries(schema, types);
    await createAudit(schema, types);
    await indexForSearch(schema);
  },
};

async function extendReactors(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  const texts = ['link', 'webhook', 'cron_schedule'] as const;
  for (const name of texts)
    await schema.alterTable('reactors').addColumn(name, types.text).execute();
  const numbers = ['webhook_rotated_at', 'cron_start_at', 'cron_next_at'] as const;
  for (const name of numbers)
    await schema.alterTable('reactors').addColumn(name, types.integer).execute();
  await schema
    .alterTable('reactors')
    .addColumn('webhook_key', types.integer, (column) => column.notNull().defaultTo(1))
    .execute();
  await schema.alterTable('reactors').addColumn('cron_on', types.integer, zero).execute();
  // Partial: those with a schedule are few, and somebody looks every second.
  await schema
    .createIndex('reactors_cron_next_at')
    .on('reactors')
    .column('cron_next_at')
    .where(sql.ref('cron_next_at'), 'is not', null)
    .execute();
}

async function createEvents(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('events')
    .addColumn('id', types.integer, key)
    .addColumn('at', types.integer, needed)
    .addColumn('type', types.text, needed)
    .addColumn('reactor_id', types.text, needed)
    .addColumn('owner_id', types.text, needed)
    .addColumn('execution_id', types.text)
    .addColumn('status', types.text, needed)
    .addColumn('exit_code', types.integer)
    .addColumn('status_message', types.text, noText)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema.createIndex('events_owner_id').on('events').columns(['owner_id', 'id']).execute();
}

async function createDeliveries(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('deliveries')
    .addColumn('id', types.text, key)
    .addColumn('event_id', types.integer, (column) =>
      column.notNull().references('events.id').onDelete('cascade'),
    )
    .addColumn('reactor_id', types.text, needed)
    .addColumn('kind', types.text, (column) =>
      column.notNull().check(sql`kind in ('link', 'webhook')`),
    )
    .addColumn('queue', types.text, needed)
    .addColumn('target', types.text, needed)
    .addColumn('webhook_key', types.integer, needed)
    .addColumn('status', types.text, (column) =>
      column.notNull().check(sql`status in ('PENDING', 'DELIVERED', 'FAILED')`),
    )
    .addColumn('attempts', types.integer, zero)
    .addColumn('next_at', types.integer, needed)
    .addColumn('leased_until', types.integer, zero)
    .addColumn('last_code', types.integer)
    .addColumn('last_problem', types.text, noText)
    .addColumn('ended_at', types.integer)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createIndex('deliveries_pending')
    .on('deliveries')
    .columns(['queue', 'next_at', 'event_id'])
    .where(sql.ref('status'), '=', sql.lit('PENDING'))
    .execute();
  await schema
    .createIndex('deliveries_reactor_id')
    .on('deliveries')
    .columns(['reactor_id', 'event_id'])
    .execute();
  await schema.createIndex('deliveries_event_id').on('deliveries').column('event_id').execute();
}

async function createAudit(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('audit_entries')
    .addColumn('id', types.text, key)
    .addColumn('at', types.integer, needed)
    .addColumn('user_id', types.text)
    .addColumn('username', types.text, noText)
    .addColumn('client', types.text, noText)
    .addColumn('address', types.text, noText)
    .addColumn('action', types.text, needed)
    .addColumn('method', types.text, noText)
    .addColumn('resource', types.text, noText)
    .addColumn('status', types.integer, needed)
    .addColumn('request_id', types.text, noText)
    .modifyEnd(types.tableEnd)
    .execute();
  for (const column of ['username', 'action', 'resource'] as const)
    await schema
      .createIndex(`audit_entries_${column}`)
      .on('audit_entries')
      .columns([column, 'id'])
      .execute();
}

/** What people look for among many: their newest, and those that went wrong. The rare ones cost nothing elsewhere. */
async function indexForSearch(schema: SchemaModule): Promise<void> {
  await schema
    .createIndex('executions_owner_id')
    .on('executions')
    .columns(['owner_id', 'id'])
    .execute();
  await schema
    .createIndex('executions_in_error')
    .on('executions')
    .columns(['reactor_id', 'seq'])
    .where(sql.ref('status'), '=', sql.lit('ERROR'))
    .execute();
  await schema
    .createIndex('executions_exit_code')
    .on('executions')
    .columns(['reactor_id', 'seq'])
    .where(sql.ref('exit_code'), '<>', sql.lit(0))
    .execute();
}
