import { type Static, Type } from 'typebox';
import type { Execution } from './execution.ts';
import { executionStatuses } from './execution.ts';
import type { OwnedExecution } from './execution-access.ts';
import { shownTime } from './execution-time.ts';
import { executionAddress, ownerAddress } from './links.ts';

/** Executions as the API shows them. What is not known yet is null. */

const Status = Type.Enum([...executionStatuses], {
  description:
    'SUBMITTED: waits; RUNNING; COMPLETE: the container ended, whatever its exit code; ERROR: it could not be run',
});
const Time = (description: string) =>
  Type.String({ description: `${description} UTC, without a zone` });
const LaterTime = (description: string) => Type.Union([Time(description), Type.Null()]);

const exampleTime = '2017-10-06 15:53:55.615958';
const exampleAddress =
  'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta';

const times = {
  messageReceivedTime: Time('When the message was accepted.'),
  startTime: LaterTime('When the container started.'),
  finishTime: LaterTime('When the execution came to its end.'),
};

const FinalState = Type.Object(
  {
    Dead: Type.Boolean(),
    Error: Type.String({ description: 'Why it was stopped or killed, in words; often empty' }),
    ExitCode: Type.Integer(),
    FinishedAt: Type.String(),
    OOMKilled: Type.Boolean({ description: 'It was over its memory limit' }),
    Paused: Type.Boolean(),
    Pid: Type.Integer(),
    Restarting: Type.Boolean(),
    Running: Type.Boolean(),
    StartedAt: Type.String(),
    Status: Type.String(),
  },
  { title: 'FinalState' },
);

export const ExecutionRecord = Type.Object(
  {
    id: Type.String(),
    actorId: Type.String({ description: 'The reactor' }),
    apiServer: Type.String({ description: 'The address of the service' }),
    executor: Type.String({ description: 'Who posted the message' }),
    workerId: Type.Union([Type.String(), Type.Null()]),
    status: Status,
    statusMessage: Type.String({ description: 'Why it is ERROR, in words' }),
    exitCode: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Of the container; null before its end, and where none ran',
    }),
    cpu: Type.Integer({ description: 'Nanoseconds of CPU time' }),
    io: Type.Integer({ description: 'Bytes over the network and of block I/O' }),
    runtime: Type.Integer({ description: 'Whole seconds' }),
    attempt: Type.Integer({
      description: 'Which try it is, from 1; cpu, io and runtime are those of all tries together',
    }),
    messageId: Type.String({ description: 'The message is known by its execution' }),
    ...times,
    finalState: Type.Union([FinalState, Type.Null()], {
      description: 'The last state of the container; null before its end, and where none ran',
    }),
    _links: Type.Object({ logs: Type.String(), owner: Type.String(), self: Type.String() }),
  },
  {
    title: 'Execution',
    examples: [
      {
        id: 'wq7PeV3mcNz4Ta',
        actorId: 'hK3vXmPq8RnW2d',
        apiServer: 'https://reactors.example.org',
        executor: 'ada',
        workerId: 'Rk2vNq8WmXs4Ld',
        status: 'COMPLETE',
        statusMessage: '',
        exitCode: 0,
        cpu: 121_430_211,
        io: 1246,
        runtime: 1,
        attempt: 1,
        messageId: 'wq7PeV3mcNz4Ta',
        messageReceivedTime: exampleTime,
        startTime: '2017-10-06 15:53:55.873215',
        finishTime: '2017-10-06 15:53:57.102938',
        finalState: {
          Dead: false,
          Error: '',
          ExitCode: 0,
          FinishedAt: '2017-10-06T15:53:57.102938Z',
          OOMKilled: false,
          Paused: false,
          Pid: 0,
          Restarting: false,
          Running: false,
          StartedAt: '2017-10-06T15:53:55.873215Z',
          Status: 'exited',
        },
        _links: {
          logs: `${exampleAddress}/logs`,
          owner: 'https://reactors.example.org/profiles/v2/ada',
          self: exampleAddress,
        },
      },
    ],
  },
);

export function executionRecord(
  { execution, owner }: OwnedExecution,
  baseUrl: string,
): Static<typeof ExecutionRecord> {
  const self = executionAddress(baseUrl, execution.reactorId, execution.id);
  return {
    id: execution.id,
    actorId: execution.reactorId,
    apiServer: baseUrl,
    executor: execution.executor,
    workerId: execution.workerId,
    status: execution.status,
    statusMessage: execution.statusMessage,
    exitCode: execution.exitCode,
    cpu: execution.cpu,
    io: execution.io,
    runtime: execution.runtime,
    attempt: execution.attempt,
    messageId: execution.id,
    ...timesOf(execution),
    finalState: execution.finalState,
    _links: { logs: `${self}/logs`, owner: ownerAddress(baseUrl, owner), self },
  };
}

const ListedExecution = Type.Object(
  {
    id: Type.String(),
    status: Status,
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    executor: Type.String(),
    ...times,
  },
  { title: 'ListedExecution' },
);

export const ExecutionList = Type.Object(
  {
    actorId: Type.String({ description: 'The reactor' }),
    apiServer: Type.String({ description: 'The address of the service' }),
    owner: Type.String(),
    totalExecutions: Type.Integer({ description: 'All there ever were, also those that are gone' }),
    totalCpu: Type.Integer({ description: 'Nanoseconds' }),
    totalIo: Type.Integer({ description: 'Bytes' }),
    totalRuntime: Type.Integer({ description: 'Seconds' }),
    executions: Type.Array(ListedExecution, { description: 'Newest first' }),
    _links: Type.Object({
      owner: Type.String(),
      self: Type.String(),
      next: Type.Optional(Type.String({ description: 'The next page, where there is one' })),
    }),
  },
  {
    title: 'ExecutionList',
    examples: [
      {
        actorId: 'hK3vXmPq8RnW2d',
        apiServer: 'https://reactors.example.org',
        owner: 'ada',
        totalExecutions: 1,
        totalCpu: 121_430_211,
        totalIo: 1246,
        totalRuntime: 1,
        executions: [
          {
            id: 'wq7PeV3mcNz4Ta',
            status: 'COMPLETE',
            exitCode: 0,
            executor: 'ada',
            messageReceivedTime: exampleTime,
            startTime: '2017-10-06 15:53:55.873215',
            finishTime: '2017-10-06 15:53:57.102938',
          },
        ],
        _links: {
          owner: 'https://reactors.example.org/profiles/v2/ada',
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions',
        },
      },
    ],
  },
);

type Times = Pick<Execution, 'receivedAt' | 'startedAt' | 'finishedAt'>;

export function listedExecution(
  execution: Times & Pick<Execution, 'id' | 'status' | 'exitCode' | 'executor'>,
): Static<typeof ListedExecution> {
  const { id, status, exitCode, executor } = execution;
  return { id, status, exitCode, executor, ...timesOf(execution) };
}

const timesOf = ({ receivedAt, startedAt, finishedAt }: Times) => ({
  messageReceivedTime: shownTime(receivedAt),
  startTime: startedAt === null ? null : shownTime(startedAt),
  finishTime: finishedAt === null ? null : shownTime(finishedAt),
});
