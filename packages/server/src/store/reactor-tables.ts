import type { Generated } from 'kysely';
import type { ExecutionDeliveryColumns, ReactorDeliveryColumns } from './delivery-tables.ts';

/** A registered container image. */
export interface ReactorsTable extends ReactorDeliveryColumns {
  id: string;
  /** Not a foreign key: when the user goes, what runs has to be stopped before the row may go. */
  owner_id: string;
  name: string | null;
  description: Generated<string>;
  image: string;
  /** The content that the reference named when it was last pulled, and the registry's digest of it. */
  image_id: string | null;
  image_digest: string | null;
  /** JSON: string to string. */
  default_environment: Generated<string>;
  stateless: number;
  max_workers: number;
  /** Bytes; null: the operator's default. */
  mem_limit: number | null;
  /** Thousandths of a core; null: the operator's default. */
  max_cpus: number | null;
  /** Seconds. */
  timeout: number;
  log_ex: number;
  token: number;
  /** A JSON array. */
  hints: Generated<string>;
  /** JSON: what the ancestors' clients send, kept and shown without effect. */
  legacy: Generated<string>;
  privileged: Generated<number>;
  /** The name of a secret of the owner with which the image is pulled. */
  registry_credentials: string | null;
  /** What everyone may do with it; null: nothing. */
  world_level: 'READ' | 'EXECUTE' | 'UPDATE' | null;
  status: 'SUBMITTED' | 'READY' | 'ERROR' | 'SHUTTING_DOWN';
  status_message: Generated<string>;
  /** Each pull that was asked for makes a new one. */
  revision: number;
  /** 1: while SUBMITTED, the registry is to be asked also where the operator lets copies at hand do (`force`). */
  pull_asked: Generated<number>;
  /** When a process last said that it is at work on what the status announces. */
  tended_at: Generated<number>;
  /** The place of the newest message in the reactor's order of receipt. */
  last_seq: Generated<number>;
  /** How many of its executions have come to an end, so that those that wait need not be counted one by one. */
  settled: Generated<number>;
  /** Sums over all its executions, so that a list need not add up a million rows. */
  total_executions: Generated<number>;
  total_cpu: Generated<number>;
  total_io: Generated<number>;
  total_runtime: Generated<number>;
  /** Where its events go: another reactor by id or alias, and an address. */
  link: string | null;
  webhook: string | null;
  /** Which signing key is in use: the key itself is derived. */
  webhook_key: Generated<number>;
  webhook_rotated_at: number | null;
  /** As the owner wrote it. */
  cron_schedule: string | null;
  cron_on: Generated<number>;
  /** From when an interval counts. */
  cron_start_at: number | null;
  /** Null: nothing is to be fired. */
  cron_next_at: number | null;
  /** 1: it goes when nobody has used it for a while. */
  remove_when_idle: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** One message and the run that it leads to. It outlives its reactor, until retention ends. */
export interface ExecutionsTable extends ExecutionDeliveryColumns {
  id: string;
  reactor_id: string;
  owner_id: string;
  /** The place in the reactor's order of receipt, from 1. */
  seq: number;
  status: 'SUBMITTED' | 'RUNNING' | 'COMPLETE' | 'ERROR';
  status_message: Generated<string>;
  executor_id: string;
  executor: string;
  /** The application through which the executor posted the message: the execution's token may go where it may. */
  client_id: string | null;
  /** `str`, `application/json`, `application/octet-stream`. */
  content_type: string;
  message_size: number;
  /** JSON: what the request's query sets for this execution alone. */
  environment: Generated<string>;
  attempt: Generated<number>;
  /** Set by the claim; cleared when a run could not begin and is to be tried again. */
  worker_id: string | null;
  /** Which service has claimed it and looks after its container; null before the claim and after the end. */
  instance: string | null;
  claimed_at: number | null;
  revision: number | null;
  halt_requested_at: number | null;
  halt_reason: string | null;
  /** This one and the next two in microseconds since the epoch: the record shows six digits. */
  received_at: number;
  started_at: number | null;
  finished_at: number | null;
  exit_code: number | null;
  cpu: Generated<number>;
  io: Generated<number>;
  /** Seconds. */
  runtime: Generated<number>;
  /** JSON. */
  final_state: string | null;
}

/** The message itself, apart from its execution, so that lists and claims do not read it. */
export interface MessagesTable {
  execution_id: string;
  body: Uint8Array;
}
