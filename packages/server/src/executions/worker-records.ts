import { type Static, Type } from 'typebox';
import type { Reactor } from '../reactors/reactor.ts';
import type { Store } from '../store/store.ts';
import { ownerAddress, reactorAddress } from './links.ts';
import type { WorkerPlaces } from './worker-places.ts';
import { busyWorkers, workersOf } from './worker-rows.ts';

/** Workers as the API shows them. */

export const workerStatuses = ['REQUESTED', 'READY', 'BUSY', 'SHUTTING_DOWN', 'ERROR'] as const;
const Time = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

const example = 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d';

export const WorkerRecord = Type.Object(
  {
    id: Type.String(),
    actorId: Type.String({ description: 'The reactor' }),
    status: Type.Enum([...workerStatuses], {
      description:
        'REQUESTED: waits for the image of the reactor. READY. BUSY: an execution runs in it. SHUTTING_DOWN: goes after ' +
        'its execution. ERROR: the reactor is in ERROR.',
    }),
    image: Type.String(),
    location: Type.String({ description: 'The machine' }),
    cid: Type.Union([Type.String(), Type.Null()], {
      description:
        'The container that runs in it, or that waits in it for a message, where it is on the machine that answers',
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

export const Utilization = Type.Object(
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

export interface WorkerListParts {
  readonly store: Store;
  readonly workers: {
    readonly places: Pick<WorkerPlaces, 'lastUse'>;
    /** The container of an execution that runs on this machine. */
    readonly containerOf: (executionId: string) => string | undefined;
    /** The spare containers of a reactor on this machine. */
    readonly sparesOf: (reactorId: string) => readonly string[];
    /** This service, among those that share the store. */
    readonly instance: string;
  };
  readonly baseUrl: () => string;
}

export async function listWorkers(
  { store, workers, baseUrl }: WorkerListParts,
  reactor: Reactor,
): Promise<Static<typeof WorkerRecord>[]> {
  const [rows, busy] = await Promise.all([
    workersOf(store, reactor.id),
    busyWorkers(store, reactor.id),
  ]);
  const actor = reactorAddress(baseUrl(), reactor.id);
  const spares = [...workers.sparesOf(reactor.id)];
  const waitingIn = (row: (typeof rows)[number]): string | undefined =>
    row.instance === workers.instance && row.status === 'READY' ? spares.shift() : undefined;
  return rows.map((row) => {
    const execution = busy.get(row.id);
    const lastUse = workers.places.lastUse(reactor.id, row.id) ?? row.last_execution_at;
    return {
      id: row.id,
      actorId: reactor.id,
      status: statusOf(row.status, execution !== undefined, reactor),
      image: reactor.image,
      location: row.location,
      cid: (execution === undefined ? waitingIn(row) : workers.containerOf(execution)) ?? null,
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
): (typeof workerStatuses)[number] {
  if (kept === 'SHUTTING_DOWN' || reactor.status === 'SHUTTING_DOWN') return 'SHUTTING_DOWN';
  if (isBusy) return 'BUSY';
  return reactor.status === 'SUBMITTED' ? 'REQUESTED' : reactor.status;
}
