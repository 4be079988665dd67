import { type ColumnDefinitionBuilder, type SchemaModule, sql } from 'kysely';
import type { ColumnTypes, Migration } from './migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();
const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

export const delivery: Migration = {
  number: 6,
  name: 'delivery',
  async up(schema, types) {
    for (const name of ['retries', 'kept_workers', 'delayed', 'delayed_seq', 'stored_bytes'])
      await schema.alterTable('reactors').addColumn(name, types.integer, zero).execute();
    for (const name of ['due_at', 'dead_at'])
      await schema.alterTable('executions').addColumn(name, types.integer).execute();
    await schema
      .alterTable('users')
      .addColumn('quotas', types.text, (column) => column.notNull().defaultTo('{}'))
      .execute();
    await indexExecutions(schema);
    await createKeys(schema, types);
    await createWorkers(schema, types);
  },
};

/** Partial: what waits for its time and what is dead are few beside the rest. */
async function indexExecutions(schema: SchemaModule): Promise<void> {
  await schema
    .createIndex('executions_due')
    .on('executions')
    .column('due_at')
    .where(sql.ref('due_at'), 'is not', null)
    .execute();
  await schema
    .createIndex('executions_dead')
    .on('executions')
    .columns(['reactor_id', 'seq'])
    .where(sql.ref('dead_at'), 'is not', null)
    .execute();
  await schema
    .createIndex('executions_dead_at')
    .on('executions')
    .column('dead_at')
    .where(sql.ref('dead_at'), 'is not', null)
    .execute();
}

async function createKeys(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('idempotency_keys')
    .addColumn('reactor_id', types.text, needed)
    .addColumn('user_id', types.text, needed)
    .addColumn('key', types.text, needed)
    .addColumn('fingerprint', types.text, needed)
    .addColumn('execution_ids', types.text, needed)
    .addColumn('expires_at', types.integer, needed)
    .addPrimaryKeyConstraint('idempotency_keys_pkey', ['reactor_id', 'user_id', 'key'])
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createIndex('idempotency_keys_expires_at')
    .on('idempotency_keys')
    .column('expires_at')
    .execute();
}

async function createWorkers(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('workers')
    .addColumn('id', types.text, (column) => column.primaryKey())
    .addColumn('reactor_id', types.text, needed)
    .addColumn('instance', types.text, needed)
    .addColumn('location', types.text, needed)
    .addColumn('status', types.text, (column) =>
      column.notNull().check(sql`status in ('READY', 'SHUTTING_DOWN')`),
    )
    .addColumn('created_at', types.integer, needed)
    .addColumn('last_execution_at', types.integer)
    .addColumn('checked_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  for (const column of ['reactor_id', 'instance'])
    await schema.createIndex(`workers_${column}`).on('workers').column(column).execute();
}
