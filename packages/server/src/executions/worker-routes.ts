import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import { ownerAddress, reactorAddress } from './links.ts';
import type { WorkerPlaces } from './worker-places.ts';
import { busyWorkers, workersOf } from './worker-rows.ts';

export interface WorkerRoutesParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'forCaller' | 'show'>;
  readonly workers: {
    readonly places: Pick<WorkerPlaces, 'keep' | 'remove' | 'lastUse'>;
    /** The container of an execution that runs on this machine. */
    readonly containerOf: (executionId: string) => string | undefined;
  };
  readonly config: { readonly most_workers: number };
  readonly baseUrl: () => string;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });
const NamedWorker = Type.Object({ reactorId: Type.String(), workerId: Type.String() });
const statuses = ['REQUESTED', 'READY', 'BUSY', 'SHUTTING_DOWN', 'ERROR'] as const;
const Time = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

const example = 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d';

const WorkerRecord = Type.Object(
  {
    id: Type.String(),
    actorId: Type.String({ description: 'The reactor' }),
    status: Type.Enum([...statuses], {
      description:
        'REQUESTED: waits for the image of the reactor. READY. BUSY: an execution runs in it. SHUTTING_DOWN: goes after ' +
        'its execution. ERROR: the reactor is in ERROR.',
    }),
    image: Type.String(),
    location: Type.String({ description: 'The machine' }),
    cid: Type.Union([Type.String(), Type.Null()], {
      description: 'The container that runs in it, where it is on the machine that answers',
    }),
    createTime: Time('When it was made'),
    lastExecutionTime: Time('When something last ran in it'),
    lastHealthCheckTime: Time('When its machine last looked after it'),
    _links: Type.Object({ self: Type.String(), owner: Type.String(), actor: Type.String() }),
  },
  {
    title: 'Worker',
    examples: [
      {
        id: 'Rk2vNq8WmXs4Ld',
        actorId: 'hK3vXmPq8RnW2d',
        status: 'READY',
        image: 'busybox:1.36',
        location: 'node-1',
        cid: null,
        createTime: '2026-01-31T12:00:00.000Z',
        lastExecutionTime: '2026-01-31T12:04:05.000Z',
        lastHealthCheckTime: '2026-01-31T12:04:30.000Z',
        _links: {
          self: `${example}/workers/Rk2vNq8WmXs4Ld`,
          owner: 'https://reactors.example.org/profiles/v2/ada',
          actor: example,
        },
      },
    ],
  },
);

const Utilization = Type.Object(
  {
    currentActors: Type.Integer({ description: 'Reactors that are there' }),
    totalActors: Type.Integer({ description: 'Reactors that were ever registered' }),
    workers: Type.Integer({ description: 'Workers of all reactors' }),
    commandQueue: Type.Integer({ description: 'Reactors that wait for their image' }),
  },
  {
    title: 'Utilization',
    examples: [{ currentActors: 12, totalActors: 90, workers: 7, commandQueue: 0 }],
  },
);

/** The workers of a reactor, and how much of the service is in use. */
export function workerRoutes(parts: WorkerRoutesParts): FastifyPluginAsyncTypebox {
  const { store, reactors, workers, config } = parts;
  return underBothSpellings(async (app) => {
    app.get(
      '/utilization',
      {
        config: { access, answer: 'enveloped', message: 'The request was successful.' },
        schema: {
          tags: ['Reactors'],
          summary: 'How much of the service is in use',
          response: { 200: Utilization },
        },
      },
      () => utilization(store),
    );

    app.get(
      '/:reactorId/workers',
      {
        config: { access, answer: 'enveloped', message: 'Workers retrieved successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'List the workers of a reactor',
          description:
            'The places in which its executions run, one after the other; the workerId of an execution names one of ' +
            'them. They are made when they are needed, and those beyond the number that is kept go when they have been idle. Needs READ.',
          params: NamedReactor,
          response: { 200: Type.Array(WorkerRecord) },
        },
      },
      async (request) =>
        list(parts, await reactors.show(callerOf(request), request.params.reactorId, 'READ')),
    );

    app.post(
      '/:reactorId/workers',
      {
        config: { access, answer: 'enveloped', message: 'The workers are there.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Keep at least so many workers',
          description:
            'Never makes them fewer: DELETE does. How many executions run at once, and in which order, stays as ' +
            'max_workers and stateless say. Answers with all workers of the reactor. Needs UPDATE.',
          params: NamedReactor,
          body: Type.Object(
            {
              num: Type.Integer({
                minimum: 1,
                maximum: config.most_workers,
                allows: `a whole number from 1 to ${config.most_workers}`,
              }),
            },
            { title: 'KeptWorkers', additionalProperties: false, examples: [{ num: 2 }] },
          ),
          response: { 200: Type.Array(WorkerRecord) },
        },
      },
      async (request) => {
        const { reactorId } = request.params;
        const reactor = await reactors.show(callerOf(request), reactorId, 'UPDATE');
        if (!(await workers.places.keep(reactor.id, request.body.num)))
          throw fail('conflict', { problem: `The reactor ${reactor.id} is being deleted.` });
        return list(parts, reactor);
      },
    );

    app.get(
      '/:reactorId/workers/:workerId',
      {
        config: { access, answer: 'enveloped', message: 'Worker retrieved successfully.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Show a worker',
          description: 'Needs READ.',
          params: NamedWorker,
          response: { 200: WorkerRecord },
        },
      },
      async (request) => {
        const { reactorId, workerId } = request.params;
        const reactor = await reactors.show(callerOf(request), reactorId, 'READ');
        return named(await list(parts, reactor), workerId);
      },
    );

    app.delete(
      '/:reactorId/workers/:workerId',
      {
        config: { access, answer: 'enveloped', message: 'Worker scheduled to be stopped.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Remove a worker',
          description:
            'An idle one goes at once, a busy one after its execution. It is not kept any more either. Needs UPDATE.',
          params: NamedWorker,
          response: { 200: Type.Null() },
        },
      },
      async (request) => {
        const { reactorId, workerId } = request.params;
        const reactor = await reactors.show(callerOf(request), reactorId, 'UPDATE');
        named(await list(parts, reactor), workerId);
        const isBusy = (await busyWorkers(store, reactor.id)).has(workerId);
        await workers.places.remove(reactor.id, workerId, isBusy);
        return null;
      },
    );
  });
}

async function list(
  { store, workers, baseUrl }: WorkerRoutesParts,
  reactor: Reactor,
): Promise<Static<typeof WorkerRecord>[]> {
  const [rows, busy] = await Promise.all([
    workersOf(store, reactor.id),
    busyWorkers(store, reactor.id),
  ]);
  const actor = reactorAddress(baseUrl(), reactor.id);
  return rows.map((row) => {
    const execution = busy.get(row.id);
    const lastUse = workers.places.lastUse(reactor.id, row.id) ?? row.last_execution_at;
    return {
      id: row.id,
      actorId: reactor.id,
      status: statusOf(row.status, execution !== undefined, reactor),
      image: reactor.image,
      location: row.location,
      cid: (execution !== undefined && workers.containerOf(execution)) || null,
      createTime: new Date(row.created_at).toISOString(),
      lastExecutionTime: lastUse === null ? null : new Date(lastUse).toISOString(),
      lastHealthCheckTime: new Date(row.checked_at).toISOString(),
      _links: {
        self: `${actor}/workers/${row.id}`,
        owner: ownerAddress(baseUrl(), reactor.ownerUsername),
        actor,
      },
    };
  });
}

function statusOf(
  kept: 'READY' | 'SHUTTING_DOWN',
  isBusy: boolean,
  reactor: Reactor,
): (typeof statuses)[number] {
  if (kept === 'SHUTTING_DOWN' || reactor.status === 'SHUTTING_DOWN') return 'SHUTTING_DOWN';
  if (isBusy) return 'BUSY';
  return reactor.status === 'SUBMITTED' ? 'REQUESTED' : reactor.status;
}

function named<Worker extends { readonly id: string }>(
  workers: readonly Worker[],
  id: string,
): Worker {
  const worker = workers.find((each) => each.id === id);
  if (worker === undefined) throw fail('unknown_resource', { kind: 'worker', name: id });
  return worker;
}

async function utilization(store: Store): Promise<Static<typeof Utilization>> {
  const row = await store.read
    .selectNoFrom((eb) => [
      eb
        .selectFrom('reactors')
        .select((count) => count.fn.countAll<number>().as('current'))
        .where('status', '!=', sql.lit<'SHUTTING_DOWN'>('SHUTTING_DOWN'))
        .as('current'),
      eb
        .selectFrom('reactors')
        .select((count) => count.fn.countAll<number>().as('submitted'))
        .where('status', '=', sql.lit<'SUBMITTED'>('SUBMITTED'))
        .as('submitted'),
      eb.selectFrom('counters').select('value').where('name', '=', 'reactors').as('total'),
      eb
        .selectFrom('workers')
        .select((count) => count.fn.countAll<number>().as('workers'))
        .as('workers'),
    ])
    .executeTakeFirstOrThrow();
  const currentActors = Number(row.current ?? 0);
  return {
    currentActors,
    totalActors: Math.max(currentActors, Number(row.total ?? 0)),
    workers: Number(row.workers ?? 0),
    commandQueue: Number(row.submitted ?? 0),
  };
}
