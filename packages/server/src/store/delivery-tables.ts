import type { Generated } from 'kysely';

/** What a reactor carries for the delivery of its messages. */
export interface ReactorDeliveryColumns {
  /** How often a failed execution is tried again. */
  retries: Generated<number>;
  /** How many workers are kept although nothing runs. */
  kept_workers: Generated<number>;
  /** How many spare containers are kept ready; null: one, while messages come often. */
  warm: Generated<number | null>;
  /** How many messages are not in the order of receipt yet: they wait for their time. */
  delayed: Generated<number>;
  /** How many ever were; each has its number among them. */
  delayed_seq: Generated<number>;
  /** Bytes of the messages whose records are kept. */
  stored_bytes: Generated<number>;
}

export interface ExecutionDeliveryColumns {
  /** Not to be claimed before, in microseconds since the epoch; null: at once. */
  due_at: Generated<number | null>;
  /** The spare container that its claim took, by name: where it may run, besides the one that has its own name. */
  spare: Generated<string | null>;
  /** Since when it is a dead letter, in microseconds; null: it is none. */
  dead_at: Generated<number | null>;
}

/** The first reply to a request that carried a key, so that a repeated one makes nothing new. */
export interface IdempotencyKeysTable {
  reactor_id: string;
  user_id: string;
  key: string;
  /** Of all that the request asked for. */
  fingerprint: string;
  /** A JSON array, in the order of the messages. */
  execution_ids: string;
  /** Milliseconds. */
  expires_at: number;
}

/** A place in which executions of a reactor run, one after the other. */
export interface WorkersTable {
  id: string;
  reactor_id: string;
  /** The service whose place it is. */
  instance: string;
  /** The name of its machine. */
  location: string;
  /** SHUTTING_DOWN: goes as soon as nothing runs in it. Whether something does, the executions know. */
  status: 'READY' | 'SHUTTING_DOWN';
  created_at: number;
  last_execution_at: number | null;
  checked_at: number;
}
