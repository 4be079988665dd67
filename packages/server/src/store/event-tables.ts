import type { Generated } from 'kysely';

export const eventTypes = [
  'ACTOR_READY',
  'ACTOR_ERROR',
  'EXECUTION_STARTED',
  'EXECUTION_COMPLETE',
  'EXECUTION_ERROR',
] as const;

export type EventType = (typeof eventTypes)[number];

/** What happened to a reactor or an execution, committed together with it. Kept for a short time. */
export interface EventsTable {
  /** In the order of the commits. */
  id: number;
  at: number;
  type: EventType;
  reactor_id: string;
  owner_id: string;
  execution_id: string | null;
  /** Of the execution, or of the reactor. */
  status: string;
  exit_code: number | null;
  status_message: Generated<string>;
}

/** An event on its way to the link or the webhook that its reactor had at that moment. */
export interface DeliveriesTable {
  id: string;
  event_id: number;
  reactor_id: string;
  kind: 'link' | 'webhook';
  /** Reactor and kind: what goes one after the other. */
  queue: string;
  target: string;
  /** Which signing key the reactor had. */
  webhook_key: number;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: Generated<number>;
  next_at: number;
  /** Until then a process is at work on it. */
  leased_until: Generated<number>;
  last_code: number | null;
  last_problem: Generated<string>;
  ended_at: number | null;
}

/** Who did what, when, to which resource, from where. */
export interface AuditEntriesTable {
  /** Rises with the time. */
  id: string;
  at: number;
  user_id: string | null;
  username: Generated<string>;
  /** The name of the application. */
  client: Generated<string>;
  address: Generated<string>;
  action: string;
  method: Generated<string>;
  resource: Generated<string>;
  /** The HTTP status of the answer. */
  status: number;
  request_id: Generated<string>;
}
