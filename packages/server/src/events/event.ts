import type { Selectable } from 'kysely';
import { Type } from 'typebox';
import { type EventsTable, eventTypes } from '../store/event-tables.ts';

export type EventRow = Selectable<EventsTable>;

const exampleTime = '2026-01-31T12:00:00.000Z';

/** An event as links, webhooks and the stream tell it. Its names are those that receivers of the ancestor read. */
export const EventPayload = Type.Object(
  {
    tenant_id: Type.String(),
    actor_id: Type.String({ description: 'The reactor' }),
    actor_dbid: Type.String(),
    event_type: Type.Enum([...eventTypes]),
    event_time_utc: Type.String({ format: 'date-time' }),
    event_time_display: Type.String({ format: 'date-time' }),
    execution_id: Type.Optional(Type.String({ description: 'Of events of executions' })),
    status: Type.String({ description: 'Of the execution, or of the reactor' }),
    exit_code: Type.Optional(
      Type.Union([Type.Integer(), Type.Null()], { description: 'Of events of executions' }),
    ),
    status_message: Type.String(),
  },
  {
    title: 'Event',
    examples: [
      {
        tenant_id: 'LOCAL',
        actor_id: 'hK3vXmPq8RnW2d',
        actor_dbid: 'LOCAL_hK3vXmPq8RnW2d',
        event_type: 'EXECUTION_COMPLETE',
        event_time_utc: exampleTime,
        event_time_display: exampleTime,
        execution_id: 'wq7PeV3mcNz4Ta',
        status: 'COMPLETE',
        exit_code: 0,
        status_message: '',
      },
    ],
  },
);

export function eventPayload(event: EventRow, tenant: string) {
  const time = new Date(event.at).toISOString();
  return {
    tenant_id: tenant,
    actor_id: event.reactor_id,
    actor_dbid: `${tenant}_${event.reactor_id}`,
    event_type: event.type,
    event_time_utc: time,
    event_time_display: time,
    ...(event.execution_id !== null && { execution_id: event.execution_id }),
    status: event.status,
    ...(event.execution_id !== null && { exit_code: event.exit_code }),
    status_message: event.status_message,
  };
}
