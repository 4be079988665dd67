import type { Generated } from 'kysely';

/** A registered client application. */
export interface ClientsTable {
  id: string;
  owner_id: string;
  name: string;
  description: Generated<string>;
  /** A JSON array of exact redirect addresses. */
  callback_urls: Generated<string>;
  /** The client id of OAuth. */
  key: string;
  secret_hash: Uint8Array;
  /** The secret before the last rotation, valid until the time beside it. */
  previous_secret_hash: Uint8Array | null;
  previous_secret_until: number | null;
  tier: string;
  /** A JSON array of the flows this client may use. */
  flows: string;
  require_pkce: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** Which APIs a client may call. */
export interface SubscriptionsTable {
  client_id: string;
  api: string;
  created_at: number;
}

/** What a user let a client do, once: the family of everything issued for it. Deleting the row ends them all. */
export interface AuthorizationsTable {
  id: string;
  client_id: string;
  user_id: string;
  flow: string;
  scope: string;
  created_at: number;
}

/** Only the sha256 of a token is kept. */
export interface AccessTokensTable {
  hash: Uint8Array;
  /** Null for flows whose tokens stand alone. */
  authorization_id: string | null;
  /** Null for the token of an execution that no application asked for. */
  client_id: string | null;
  user_id: string;
  flow: string;
  scope: string;
  issued_at: number;
  expires_at: number;
}

export interface RefreshTokensTable {
  hash: Uint8Array;
  authorization_id: string;
  client_id: string;
  user_id: string;
  scope: string;
  issued_at: number;
  last_used_at: number;
  expires_at: number | null;
  /** With rotation: when its successor was issued. */
  replaced_at: number | null;
}

export interface AuthorizationCodesTable {
  hash: Uint8Array;
  authorization_id: string;
  client_id: string;
  user_id: string;
  redirect_uri: string;
  scope: string;
  code_challenge: string | null;
  issued_at: number;
  expires_at: number;
  used_at: number | null;
}

/** A request at /authorize that waits for login and consent. Forms carry its id and nothing else of it. */
export interface AuthorizationRequestsTable {
  id: string;
  session_hash: Uint8Array;
  client_id: string;
  response_type: string;
  redirect_uri: string;
  scope: string;
  state: string | null;
  code_challenge: string | null;
  show_dialog: number;
  created_at: number;
  expires_at: number;
}

export interface ConsentsTable {
  user_id: string;
  client_id: string;
  scope: string;
  redirect_uri: string;
  created_at: number;
  last_used_at: number;
}

/** A browser. `user_id` is null until its person has logged in. */
export interface SessionsTable {
  hash: Uint8Array;
  user_id: string | null;
  created_at: number;
  last_seen_at: number;
}

export interface DeviceCodesTable {
  hash: Uint8Array;
  user_code: string;
  client_id: string;
  scope: string;
  status: 'pending' | 'approved' | 'denied' | 'used';
  user_id: string | null;
  created_at: number;
  expires_at: number;
  last_polled_at: number | null;
  /** Seconds a device must leave between two questions; grows when it asks faster. */
  poll_interval: number;
}

/** What processes remember and must forget: a user, client, authorization or token that was changed or ended. */
export interface AccessChangesTable {
  /** In the order of the commits. */
  id: number;
  kind: 'user' | 'client' | 'authorization' | 'token' | 'reactor';
  subject: string;
  at: number;
}

/** Keys that all processes on one store share, such as the one that derives successors of refresh tokens. */
export interface ServiceKeysTable {
  name: string;
  value: Uint8Array;
  created_at: number;
}
