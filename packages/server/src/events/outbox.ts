import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely';
import { currentNumber, takeNumber } from '../store/counters.ts';
import type { EventType } from '../store/event-tables.ts';
import type { Schema } from '../store/schema.ts';
import { prepared, type Statement } from '../store/statement.ts';

/**
 * What a unit says beside what it does: an event, and its deliveries where the reactor has a link or a webhook at this
 * moment. So an event is as durable as what it tells of, and what was undone is never told.
 */

interface ExecutionEvent {
  readonly reactorId: string;
  readonly executionId: string;
  readonly type: EventType;
  readonly status: string;
  readonly exitCode: number | null;
  readonly statusMessage: string;
}

const number = currentNumber('event');

const insertExecutionEvent = prepared((db, p: ExecutionEvent & { at: number }) =>
  db
    .insertInto('events')
    .columns([
      'id',
      'at',
      'type',
      'reactor_id',
      'owner_id',
      'execution_id',
      'status',
      'exit_code',
      'status_message',
    ])
    .expression((eb) =>
      eb
        .selectFrom('reactors')
        .select([
          number.as('id'),
          sql<number>`cast(${p.at} as bigint)`.as('at'),
          sql<EventType>`${p.type}`.as('type'),
          'reactors.id as reactor_id',
          'owner_id',
          sql<string>`${p.executionId}`.as('execution_id'),
          sql<string>`${p.status}`.as('status'),
          sql<number | null>`cast(${p.exitCode} as bigint)`.as('exit_code'),
          sql<string>`${p.statusMessage}`.as('status_message'),
        ])
        .where('reactors.id', '=', p.reactorId),
    ),
);

interface ReactorEvent {
  readonly id: string;
  readonly revision: number;
  readonly type: EventType;
  readonly status: 'READY' | 'ERROR';
  readonly statusMessage: string;
}

/** Only if the statement after it in the unit will change the status. */
const insertReactorEvent = prepared((db, p: ReactorEvent & { at: number }) =>
  db
    .insertInto('events')
    .columns(['id', 'at', 'type', 'reactor_id', 'owner_id', 'status', 'status_message'])
    .expression((eb) =>
      eb
        .selectFrom('reactors')
        .select([
          number.as('id'),
          sql<number>`cast(${p.at} as bigint)`.as('at'),
          sql<EventType>`${p.type}`.as('type'),
          'reactors.id as reactor_id',
          'owner_id',
          sql<string>`${p.status}`.as('status'),
          sql<string>`${p.statusMessage}`.as('status_message'),
        ])
        .where('reactors.id', '=', p.id)
        .where('reactors.revision', '=', p.revision)
        .where('reactors.status', '!=', 'SHUTTING_DOWN')
        .where('reactors.status', '!=', p.status),
    ),
);

/** To the link first, then to the webhook, as the reactor says now. `which` chooses among `events as e`. */
const insertDeliveries = (db: Kysely<Schema>, which: RawBuilder<unknown>) =>
  raw(
    db,
    sql`insert into deliveries (id, event_id, reactor_id, kind, queue, target, webhook_key, status, next_at)
      select cast(e.id as text) || 'L', e.id, r.id, 'link', r.id || ' link', r.link, r.webhook_key, 'PENDING', e.at
        from events e join reactors r on r.id = e.reactor_id where ${which} and r.link is not null
      union all
      select cast(e.id as text) || 'W', e.id, r.id, 'webhook', r.id || ' webhook', r.webhook, r.webhook_key, 'PENDING', e.at
        from events e join reactors r on r.id = e.reactor_id where ${which} and r.webhook is not null`,
  );

const insertDeliveriesOfOne = prepared((db) => insertDeliveries(db, sql`e.id = ${number}`));

/** The end or the start of an execution. */
export function executionEvent(event: ExecutionEvent): readonly Statement[] {
  const at = Date.now();
  return [takeNumber('event'), insertExecutionEvent({ ...event, at }), insertDeliveriesOfOne()];
}

/** To stand in the unit before the change of the reactor's status: it tells nothing where nothing changes. */
export function reactorEvent(event: ReactorEvent): readonly Statement[] {
  const at = Date.now();
  return [takeNumber('event'), insertReactorEvent({ ...event, at }), insertDeliveriesOfOne()];
}

/** Executions that one statement has dropped: they are known by their time and their words. */
interface Dropped {
  readonly reactorId: string;
  readonly message: string;
  /** Microseconds. */
  readonly now: number;
}

const ofDropped = (p: Dropped) =>
  sql`from executions where finished_at = ${p.now} and reactor_id = ${p.reactorId} and status_message = ${p.message}`;

const takeNumbersOfDropped = prepared((db, p: Dropped) =>
  raw(
    db,
    sql`insert into counters (name, value) select 'event', count(*) ${ofDropped(p)}
      on conflict (name) do update set value = counters.value + excluded.value`,
  ),
);

const insertEventsOfDropped = prepared((db, p: Dropped & { at: number }) =>
  raw(
    db,
    sql`insert into events (id, at, type, reactor_id, owner_id, execution_id, status, status_message)
      select ${number} + 1 - row_number() over (order by seq desc), cast(${p.at} as bigint), 'EXECUTION_ERROR',
        reactor_id, owner_id, id, 'ERROR', status_message ${ofDropped(p)}`,
  ),
);

const insertDeliveriesOfDropped = prepared((db, p: Dropped) =>
  insertDeliveries(
    db,
    sql`e.id > ${number} - (select count(*) ${ofDropped(p)}) and e.reactor_id = ${p.reactorId}`,
  ),
);

/** One for each, in their order. To stand in the unit behind the statement that has dropped them. */
export function droppedEvents(dropped: Dropped): readonly Statement[] {
  return [
    takeNumbersOfDropped(dropped),
    insertEventsOfDropped({ ...dropped, at: Date.now() }),
    insertDeliveriesOfDropped(dropped),
  ];
}

function raw(db: Kysely<Schema>, query: RawBuilder<never>): Compilable<never> {
  return { compile: () => query.compile(db) };
}
