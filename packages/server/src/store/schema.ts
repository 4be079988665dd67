import type { Generated } from 'kysely';
import type {
  AccessChangesTable,
  AccessTokensTable,
  AuthorizationCodesTable,
  AuthorizationRequestsTable,
  AuthorizationsTable,
  ClientsTable,
  ConsentsTable,
  DeviceCodesTable,
  RefreshTokensTable,
  ServiceKeysTable,
  SessionsTable,
  SubscriptionsTable,
} from './authorization-tables.ts';
import type { IdempotencyKeysTable, WorkersTable } from './delivery-tables.ts';
import type { AuditEntriesTable, DeliveriesTable, EventsTable } from './event-tables.ts';
import type { LogChunksTable, LogsTable } from './log-tables.ts';
import type { ExecutionsTable, MessagesTable, ReactorsTable } from './reactor-tables.ts';
import type { ResultBoxesTable, ResultsTable } from './result-tables.ts';
import type {
  AliasesTable,
  AliasPermissionsTable,
  ConfigReactorsTable,
  ConfigsTable,
  ExecutionSecretsTable,
  NoncesTable,
  ReactorPermissionsTable,
} from './sharing-tables.ts';
import type { ReactorStatesTable } from './state-tables.ts';

/**
 * The tables, as TypeScript sees them: those of the store, and those of the logs, which are a database of their own.
 * The same in both databases:
 * a boolean is an integer 0 or 1, a time is an integer (ms since the epoch), JSON is text,
 * binary is read as Uint8Array. `Generated` marks a column that has a default.
 */
export interface Schema {
  counters: CountersTable;
  users: UsersTable;
  clients: ClientsTable;
  subscriptions: SubscriptionsTable;
  authorizations: AuthorizationsTable;
  access_tokens: AccessTokensTable;
  refresh_tokens: RefreshTokensTable;
  authorization_codes: AuthorizationCodesTable;
  authorization_requests: AuthorizationRequestsTable;
  consents: ConsentsTable;
  sessions: SessionsTable;
  device_codes: DeviceCodesTable;
  access_changes: AccessChangesTable;
  service_keys: ServiceKeysTable;
  reactors: ReactorsTable;
  executions: ExecutionsTable;
  messages: MessagesTable;
  reactor_permissions: ReactorPermissionsTable;
  aliases: AliasesTable;
  alias_permissions: AliasPermissionsTable;
  nonces: NoncesTable;
  configs: ConfigsTable;
  config_reactors: ConfigReactorsTable;
  execution_secrets: ExecutionSecretsTable;
  idempotency_keys: IdempotencyKeysTable;
  workers: WorkersTable;
  reactor_states: ReactorStatesTable;
  events: EventsTable;
  deliveries: DeliveriesTable;
  audit_entries: AuditEntriesTable;
  logs: LogsTable;
  log_chunks: LogChunksTable;
  result_boxes: ResultBoxesTable;
  results: ResultsTable;
}

/**
 * Numbers given out in order, never twice. The row stays locked until its unit is committed, so the numbers are in
 * the order of the commits, whichever process makes them.
 */
interface CountersTable {
  name: string;
  value: number;
}

export interface UsersTable {
  id: string;
  /** From 1001, in order of creation. */
  uid: number;
  /** Unique whatever the case of its letters. */
  username: string;
  password_hash: string;
  email: Generated<string>;
  first_name: Generated<string>;
  last_name: Generated<string>;
  phone: Generated<string>;
  mobile_phone: Generated<string>;
  /** The other fields of the profile, as a JSON object of texts. */
  details: Generated<string>;
  status: Generated<'active' | 'disabled'>;
  /** A JSON array. */
  roles: Generated<string>;
  /** A JSON array. */
  grants: Generated<string>;
  /** JSON: number by name; what is not there is the operator's default. */
  quotas: Generated<string>;
  /** Grows with each change, so that a change made from an outdated reading is noticed. */
  revision: Generated<number>;
  password_changed_at: number;
  created_at: number;
  updated_at: number;
}
