import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import type { WorkerPlaces } from './worker-places.ts';
import { listWorkers, Utilization, type WorkerListParts, WorkerRecord } from './worker-records.ts';
import { busyWorkers } from './worker-rows.ts';

export interface WorkerRoutesParts extends WorkerListParts {
  readonly reactors: Pick<Reactors, 'forCaller' | 'show'>;
  readonly workers: WorkerListParts['workers'] & {
    readonly places: Pick<WorkerPlaces, 'keep' | 'remove'>;
    readonly keptChanged: () => void;
  };
  readonly config: { readonly most_workers: number };
}

const NamedReactor = Type.Object({ reactorId: Type.String() });
const NamedWorker = Type.Object({ reactorId: Type.String(), workerId: Type.String() });

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
        listWorkers(
          parts,
          await reactors.show(callerOf(request), request.params.reactorId, 'READ'),
        ),
    );

    app.post(
      '/:reactorId/workers',
      {
        config: { access, answer: 'enveloped', message: 'The workers are there.' },
        schema: {
          tags: ['Reactors'],
          summary: 'Keep at least so many workers',
          description:
            'Never makes them fewer: DELETE does. Each has a spare container that waits for a message, as far as the machine ' +
            'has room, unless warm is 0. How many executions run at once, and in which order, stays as ' +
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
        workers.keptChanged();
        return listWorkers(parts, reactor);
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
        return named(await listWorkers(parts, reactor), workerId);
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
        named(await listWorkers(parts, reactor), workerId);
        const isBusy = (await busyWorkers(store, reactor.id)).has(workerId);
        await workers.places.remove(reactor.id, workerId, isBusy);
        workers.keptChanged();
        return null;
      },
    );
  });
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
