import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { eventTypes } from '../store/event-tables.ts';
import { expectRows } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import type { Courier } from './courier.ts';
import { deliverAgain } from './deliveries.ts';
import { overlapMs, useNextKey, type WebhookKeys } from './webhook-keys.ts';

export interface DeliveryRoutesParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'forCaller' | 'show' | 'commit'>;
  readonly courier: Pick<Courier, 'look'>;
  readonly keys: Pick<WebhookKeys, 'secretOf'>;
  readonly baseUrl: () => string;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });

const LaterTime = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

const DeliveryRecord = Type.Object(
  {
    id: Type.String(),
    eventId: Type.Integer(),
    eventType: Type.Enum([...eventTypes]),
    executionId: Type.Union([Type.String(), Type.Null()]),
    kind: Type.Enum(['link', 'webhook']),
    target: Type.String({ description: 'The reactor or the address' }),
    status: Type.Enum(['PENDING', 'DELIVERED', 'FAILED'], {
      description: 'FAILED: it was given up',
    }),
    attempts: Type.Integer(),
    lastResponseCode: Type.Union([Type.Integer(), Type.Null()], {
      description: 'What the webhook answered last; null where it did not',
    }),
    lastProblem: Type.String({ description: 'Why the last attempt did not succeed' }),
    eventTime: Type.String({ format: 'date-time' }),
    nextTime: LaterTime,
    endTime: LaterTime,
    _links: Type.Object({ self: Type.String(), actor: Type.String() }),
  },
  {
    title: 'Delivery',
    examples: [
      {
        id: '4711W',
        eventId: 4711,
        eventType: 'EXECUTION_COMPLETE',
        executionId: 'wq7PeV3mcNz4Ta',
        kind: 'webhook',
        target: 'https://example.org/hook',
        status: 'DELIVERED',
        attempts: 1,
        lastResponseCode: 204,
        lastProblem: '',
        eventTime: '2026-01-31T12:00:00.000Z',
        nextTime: null,
        endTime: '2026-01-31T12:00:00.210Z',
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/deliveries/4711W',
          actor: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d',
        },
      },
    ],
  },
);

const WebhookSecret = Type.Object(
  {
    secret: Type.String({ description: 'The key of Standard Webhooks: whsec_ and base64' }),
    rotateTime: LaterTime,
    overlapUntil: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Until then, calls carry a signature with the key before, too',
    }),
  },
  {
    title: 'WebhookSecret',
    examples: [
      {
        secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
        rotateTime: null,
        overlapUntil: null,
      },
    ],
  },
);

/** Where the events of a reactor went, and the key that webhooks are signed with. */
export function deliveryRoutes(parts: DeliveryRoutesParts): FastifyPluginAsyncTypebox {
  const { store, reactors, courier, keys, baseUrl } = parts;
  const isoOf = (time: number | null) => (time === null ? null : new Date(time).toISOString());

  const found = (reactorId: string) =>
    store.read
      .selectFrom('deliveries')
      .innerJoin('events', 'events.id', 'deliveries.event_id')
      .selectAll('deliveries')
      .select(['events.type', 'events.at', 'events.execution_id'])
      .where('deliveries.reactor_id', '=', reactorId);
  type Found = Awaited<ReturnType<ReturnType<typeof found>['execute']>>[number];

  const shown = (row: Found): Static<typeof DeliveryRecord> => {
    const actor = `${baseUrl()}/actors/v2/${row.reactor_id}`;
    return {
      id: row.id,
      eventId: row.event_id,
      eventType: row.type,
      executionId: row.execution_id,
      kind: row.kind,
      target: row.target,
      status: row.status,
      attempts: row.attempts,
      lastResponseCode: row.last_code,
      lastProblem: row.last_problem,
      eventTime: new Date(row.at).toISOString(),
      nextTime: row.status === 'PENDING' ? isoOf(row.next_at) : null,
      endTime: isoOf(row.ended_at),
      _links: { self: `${actor}/deliveries/${row.id}`, actor },
    };
  };

  const secretOf = (reactor: Awaited<ReturnType<Reactors['show']>>) => ({
    secret: keys.secretOf(reactor),
    rotateTime: isoOf(reactor.webhookRotatedAt),
    overlapUntil: isoOf(reactor.webhookRotatedAt && reactor.webhookRotatedAt + overlapMs),
  });

  return underBothSpellings(async (app) => {
    app.get(
      '/:reactorId/deliveries',
      {
        config: { access, answer: 'enveloped', message: 'Deliveries retrieved successfully.' },
        schema: {
          tags: ['Events'],
          summary: 'List where the events of a reactor went',
          description:
            'Newest first: each event and its link or webhook, with attempts and what came of them. The header Link has ' +
            'the next page. Needs READ.',
          params: NamedReactor,
          querystring: Type.Object({
            ...pageFields,
            status: Type.Optional(
              Type.Enum(['PENDING', 'DELIVERED', 'FAILED'], { description: 'Only those.' }),
            ),
            cursor: Type.Optional(
              Type.Integer({
                minimum: 1,
                allows: 'the cursor in the address of the next page',
                description: 'Where to go on.',
              }),
            ),
          }),
          response: { 200: Type.Array(DeliveryRecord) },
        },
      },
      async (request, reply) => {
        const { id } = await reactors.forCaller(
          callerOf(request),
          request.params.reactorId,
          'READ',
        );
        const { status, cursor } = request.query;
        const { limit, offset } = readPage(request.query);
        let query = found(id)
          .orderBy('deliveries.event_id', 'desc')
          .orderBy('deliveries.id', 'desc')
          .limit(limit + 1)
          .offset(offset);
        if (status !== undefined) query = query.where('deliveries.status', '=', status);
        // Both deliveries of an event stay on one page or are shown twice; never is one left out.
        if (cursor !== undefined) query = query.where('deliveries.event_id', '<=', cursor);
        const rows = await query.execute();
        const next = rows[limit];
        if (next !== undefined) {
          const more = new URLSearchParams({
            limit: String(limit),
            cursor: String(next.event_id),
            ...(status !== undefined && { status }),
          });
          reply.header('link', `<${baseUrl()}/actors/v2/${id}/deliveries?${more}>; rel="next"`);
        }
        return rows.slice(0, limit).map(shown);
      },
    );

    app.post(
      '/:reactorId/deliveries/:deliveryId',
      {
        config: { access, answer: 'enveloped', message: 'The event is delivered again.' },
        schema: {
          tags: ['Events'],
          summary: 'Deliver an event again',
          description:
            'From the first attempt on, whatever came of it before; to the same link or address. 409 while it is being ' +
            'delivered. Needs UPDATE.',
          params: Type.Object({ reactorId: Type.String(), deliveryId: Type.String() }),
          response: { 200: DeliveryRecord },
        },
      },
      async (request) => {
        const { reactorId, deliveryId } = request.params;
        const { id } = await reactors.forCaller(callerOf(request), reactorId, 'UPDATE');
        const one = () =>
          /^\d{1,15}[LW]$/.test(deliveryId)
            ? found(id).where('deliveries.id', '=', deliveryId).executeTakeFirst()
            : undefined;
        const unknown = () => fail('unknown_resource', { kind: 'delivery', name: deliveryId });
        if ((await one()) === undefined) throw unknown();
        try {
          await store.write(expectRows(deliverAgain({ id: deliveryId, now: Date.now() }), 1));
        } catch (error) {
          if (!(error instanceof UnexpectedRows)) throw error;
          throw fail('conflict', {
            problem: `The event ${deliveryId} is on its way already; only one that has arrived or was given up can be delivered again.`,
          });
        }
        const row = await one();
        if (row === undefined) throw unknown();
        void courier.look();
        return shown(row);
      },
    );

    app.get(
      '/:reactorId/webhook-secret',
      {
        config: { access, answer: 'enveloped', message: 'Secret retrieved successfully.' },
        schema: {
          tags: ['Events'],
          summary: "Show the key of a reactor's webhook",
          description:
            'Calls to the webhook carry `webhook-id`, `webhook-timestamp` and `webhook-signature` as Standard Webhooks ' +
            'describes them: HMAC-SHA256 with this key. Needs UPDATE.',
          params: NamedReactor,
          response: { 200: WebhookSecret },
        },
      },
      async (request, reply) => {
        reply.header('cache-control', 'no-store');
        return secretOf(await reactors.show(callerOf(request), request.params.reactorId, 'UPDATE'));
      },
    );

    app.post(
      '/:reactorId/webhook-secret',
      {
        config: { access, answer: 'enveloped', message: 'Secret replaced successfully.' },
        schema: {
          tags: ['Events'],
          summary: "Replace the key of a reactor's webhook",
          description:
            'From now on calls are signed with the new key, and for 24 hours with the one before, too. Needs UPDATE.',
          params: NamedReactor,
          response: { 200: WebhookSecret },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const reactor = await reactors.show(caller, request.params.reactorId, 'UPDATE');
        await reactors.commit(reactor.id, useNextKey({ id: reactor.id, now: Date.now() }));
        reply.header('cache-control', 'no-store');
        return secretOf(await reactors.show(caller, reactor.id, 'UPDATE'));
      },
    );
  });
}
