import { type ColumnDefinitionBuilder, type SchemaModule, sql } from 'kysely';
import type { ColumnTypes, Migration } from './migration.ts';

const needed = (column: ColumnDefinitionBuilder) => column.notNull();
const key = (column: ColumnDefinitionBuilder) => column.primaryKey();
const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);
const noText = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo('');

export const reactors: Migration = {
  number: 3,
  name: 'reactors',
  async up(schema, types) {
    await createReactors(schema, types);
    await createExecutions(schema, types);
  },
};

async function createReactors(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('reactors')
    .addColumn('id', types.text, key)
    .addColumn('owner_id', types.text, needed)
    .addColumn('name', types.text)
    .addColumn('description', types.text, noText)
    .addColumn('image', types.text, needed)
    .addColumn('image_id', types.text)
    .addColumn('image_digest', types.text)
    .addColumn('default_environment', types.text, (column) => column.notNull().defaultTo('{}'))
    .addColumn('stateless', types.integer, needed)
    .addColumn('max_workers', types.integer, needed)
    .addColumn('mem_limit', types.integer)
    .addColumn('max_cpus', types.integer)
    .addColumn('timeout', types.integer, needed)
    .addColumn('log_ex', types.integer, needed)
    .addColumn('token', types.integer, needed)
    .addColumn('hints', types.text, (column) => column.notNull().defaultTo('[]'))
    .addColumn('legacy', types.text, (column) => column.notNull().defaultTo('{}'))
    .addColumn('privileged', types.integer, zero)
    .addColumn('status', types.text, (column) =>
      column.notNull().check(sql`status in ('SUBMITTED', 'READY', 'ERROR', 'SHUTTING_DOWN')`),
    )
    .addColumn('status_message', types.text, noText)
    .addColumn('revision', types.integer, needed)
    .addColumn('pull_asked', types.integer, zero)
    .addColumn('tended_at', types.integer, zero)
    .addColumn('last_seq', types.integer, zero)
    .addColumn('settled', types.integer, zero)
    .addColumn('total_executions', types.integer, zero)
    .addColumn('total_cpu', types.integer, zero)
    .addColumn('total_io', types.integer, zero)
    .addColumn('total_runtime', types.integer, zero)
    .addColumn('created_at', types.integer, needed)
    .addColumn('updated_at', types.integer, needed)
    .modifyEnd(types.tableEnd)
    .execute();
  await schema
    .createIndex('reactors_owner_id')
    .on('reactors')
    .columns(['owner_id', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('reactors_created_at')
    .on('reactors')
    .columns(['created_at', 'id'])
    .execute();
  await schema.createIndex('reactors_status').on('reactors').column('status').execute();
}

/** Not `in`: for more than two values SQLite would make a table of them with each row that is written. */
const oneOfStates = sql<boolean>`status = 'SUBMITTED' or status = 'RUNNING' or status = 'COMPLETE' or status = 'ERROR'`;

async function createExecutions(schema: SchemaModule, types: ColumnTypes): Promise<void> {
  await schema
    .createTable('executions')
    .addColumn('id', types.text, key)
    .addColumn('reactor_id', types.text, needed)
    .addColumn('owner_id', types.text, needed)
    .addColumn('seq', types.integer, needed)
    .addColumn('status', types.text, (column) => column.notNull().check(oneOfStates))
    .addColumn('status_message', types.text, noText)
    .addColumn('executor_id', types.text, needed)
    .addColumn('executor', types.text, needed)
    .addColumn('client_id', types.text)
    .addColumn('content_type', types.text, needed)
    .addColumn('message_size', types.integer, needed)
    .addColumn('environment', types.text, (column) => column.notNull().defaultTo('{}'))
    .addColumn('attempt', types.integer, (column) => column.notNull().defaultTo(1))
    .addColumn('worker_id', types.text)
    .addColumn('instance', types.text)
    .addColumn('claimed_at', types.integer)
    .addColumn('revision', types.integer)
    .addColumn('halt_requested_at', types.integer)
    .addColumn('halt_reason', types.text)
    .addColumn('received_at', types.integer, needed)
    .addColumn('started_at', types.integer)
    .addColumn('finished_at', types.integer)
    .addColumn('exit_code', types.integer)
    .addColumn('cpu', types.integer, zero)
    .addColumn('io', types.integer, zero)
    .addColumn('runtime', types.integer, zero)
    .addColumn('final_state', types.text)
    .addUniqueConstraint('executions_reactor_id_seq_unique', ['reactor_id', 'seq'])
    .modifyEnd(types.tableEnd)
    .execute();
  // Partial: the waiting and the running are few beside the finished, and a claim must cost the same among a million.
  await schema
    .createIndex('executions_waiting')
    .on('executions')
    .columns(['reactor_id', 'seq'])
    .where(sql.ref('status'), '=', sql.lit('SUBMITTED'))
    .execute();
  await schema
    .createIndex('executions_running')
    .on('executions')
    .column('reactor_id')
    .where(sql.ref('status'), '=', sql.lit('RUNNING'))
    .execute();
  await schema
    .createIndex('executions_claimed')
    .on('executions')
    .column('instance')
    .where(sql.ref('instance'), 'is not', null)
    .execute();
  await schema
    .createIndex('executions_finished_at')
    .on('executions')
    .column('finished_at')
    .where(sql.ref('finished_at'), 'is not', null)
    .execute();
  await schema
    .createTable('messages')
    .addColumn('execution_id', types.text, (column) =>
      column.primaryKey().references('executions.id').onDelete('cascade'),
    )
    .addColumn('body', types.binary, needed)
    .modifyEnd(types.tableEnd)
    .execute();
}
