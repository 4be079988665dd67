import type { Generated } from 'kysely';

/** What one user may do with a reactor that is not theirs. */
export interface ReactorPermissionsTable {
  reactor_id: string;
  user_id: string;
  level: 'READ' | 'EXECUTE' | 'UPDATE';
  /** Of the reactor, which never changes: so that a list of shared reactors can go on from a place in an index. */
  reactor_created_at: number;
}

/** Another name for a reactor. */
export interface AliasesTable {
  alias: string;
  reactor_id: string;
  owner_id: string;
  /** What everyone may do with the alias itself; null: nothing. */
  world_level: 'READ' | 'EXECUTE' | 'UPDATE' | null;
  created_at: number;
  updated_at: number;
}

/** What one user may do with an alias that is not theirs. It gives nothing on the reactor behind it. */
export interface AliasPermissionsTable {
  alias: string;
  user_id: string;
  level: 'READ' | 'EXECUTE' | 'UPDATE';
}

/** A secret that acts for its owner on one reactor, or under one alias. */
export interface NoncesTable {
  /** SHA-256 of the nonce: by it a nonce is found. */
  hash: Uint8Array;
  /** The nonce itself, encrypted: who may change the reactor is shown it again. */
  sealed: Uint8Array;
  /** With which key it is encrypted. */
  key_id: string;
  /** One of these two is set. */
  reactor_id: string | null;
  alias: string | null;
  owner_id: string;
  /** The application by which it was made; it counts as used through it. No foreign key: it outlives it. */
  client_id: string | null;
  level: 'READ' | 'EXECUTE' | 'UPDATE';
  /** -1: no limit. */
  max_uses: number;
  current_uses: Generated<number>;
  description: Generated<string>;
  created_at: number;
  last_used_at: number | null;
}

/** A named value of a user, for the containers of the reactors that it is linked to. */
export interface ConfigsTable {
  id: string;
  owner_id: string;
  name: string;
  is_secret: number;
  /** The value in clear, or encrypted where it is a secret. */
  value: string | null;
  sealed: Uint8Array | null;
  /** With which key it is encrypted. */
  key_id: string | null;
  /** Bytes of name and value as they stand in JSON. */
  size: number;
  created_at: number;
  updated_at: number;
}

/** Which containers get a config. */
export interface ConfigReactorsTable {
  config_id: string;
  reactor_id: string;
  /** Of the config: no two of one reactor have the same. */
  name: string;
}

/** What the log of a running execution must not show; goes at its end. */
export interface ExecutionSecretsTable {
  execution_id: string;
  /** A JSON array, encrypted. */
  sealed: Uint8Array;
  key_id: string;
}
