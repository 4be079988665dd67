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

/**
 * The tables, as TypeScript sees them. The same in both databases:
 * a boolean is an integer 0 or 1, a time is an integer (ms since the epoch), JSON is text,
 * binary is read as Uint8Array. `Generated` marks a column that has a default.
 */
export interface Schema {
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
}

export interface UsersTable {
  id: string;
  username: string;
  password_hash: string;
  email: Generated<string>;
  first_name: Generated<string>;
  last_name: Generated<string>;
  status: Generated<'active' | 'disabled'>;
  /** A JSON array. */
  roles: Generated<string>;
  /** A JSON array. */
  grants: Generated<string>;
  created_at: number;
  updated_at: number;
}
