import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { permissionLevels } from '../contract/permission-level.ts';
import { type Reactor, reactorStatuses } from './reactor.ts';
import { permissionMap } from './reactor-access.ts';
import { asSize } from './reactor-rules.ts';

/** Who may do what: a level by username. */
export const PermissionMap = Type.Record(
  Type.String(),
  Type.String({ enum: [...permissionLevels] }),
  {
    title: 'Permissions',
    description:
      'Who may do what: a level by username, the owner included. WORLD is everyone who may use the area.',
    examples: [{ ada: 'UPDATE', bob: 'EXECUTE', WORLD: 'READ' }],
  },
);

/** A reactor as it is shown. */
export const ReactorRecord = Type.Object(
  {
    id: Type.String(),
    owner: Type.String({ description: 'The username of who registered it.' }),
    name: Type.Union([Type.String(), Type.Null()]),
    description: Type.String(),
    image: Type.String(),
    imageDigest: Type.Union([Type.String(), Type.Null()], {
      description:
        "The registry's digest of what is run; null before the pull, and where it came from no registry.",
    }),
    imageId: Type.Union([Type.String(), Type.Null()], {
      description: 'The id of what is run, as the engine has it.',
    }),
    status: Type.String({
      enum: [...reactorStatuses],
      description:
        'SUBMITTED: its image is being pulled, messages wait. READY. ERROR: statusMessage says why, messages wait ' +
        'until a PUT mends it. SHUTTING_DOWN: it is being deleted.',
    }),
    statusMessage: Type.String(),
    revision: Type.Integer({ description: 'Raised by every PUT that pulls the image.' }),
    defaultEnvironment: Type.Record(Type.String(), Type.String()),
    stateless: Type.Boolean(),
    state: Type.Optional(
      Type.Unknown({ description: 'What a stateful reactor remembers. Lists leave it out.' }),
    ),
    maxWorkers: Type.Integer(),
    memLimit: Type.String({ description: "What holds: its own, or the operator's default." }),
    maxCpus: Type.Number({
      description: "In cores. What holds: its own, or the operator's default.",
    }),
    timeout: Type.Integer({ description: 'Seconds.' }),
    logEx: Type.Integer({ description: 'Seconds.' }),
    retries: Type.Integer({ description: 'How often a failed execution is tried again.' }),
    token: Type.Boolean(),
    hints: Type.Array(Type.String()),
    privileged: Type.Boolean(),
    registryCredentials: Type.Union([Type.String(), Type.Null()], {
      description: 'The name of the secret with which its image is pulled.',
    }),
    permissions: PermissionMap,
    link: Type.Union([Type.String(), Type.Null()]),
    webhook: Type.Union([Type.String(), Type.Null()]),
    cronSchedule: Type.Union([Type.String(), Type.Null()]),
    cronOn: Type.Boolean(),
    cronNextEx: Type.Union([Type.String(), Type.Null()], {
      description: 'When the schedule comes next: day and hour in UTC, such as 2030-01-31 08.',
    }),
    cronNextTime: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'The same, exactly.',
    }),
    removeWhenIdle: Type.Boolean({
      description: 'Whether it is deleted when it has not been used for a while.',
    }),
    idleRemovalTime: Type.Optional(
      Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description:
          'When that will be, unless it is used before; null while it is in use. Only with removeWhenIdle, and where the ' +
          'operator has idle reactors removed. Lists leave it out.',
      }),
    ),
    type: Type.String(),
    queue: Type.String(),
    useContainerUid: Type.Boolean(),
    createTime: Type.String({ format: 'date-time' }),
    lastUpdateTime: Type.String({ format: 'date-time' }),
    _links: Type.Object({
      self: Type.String(),
      owner: Type.String(),
      executions: Type.String(),
      messages: Type.String(),
    }),
  },
  {
    title: 'Reactor',
    examples: [
      {
        id: 'hK3vXmPq8RnW2d',
        owner: 'ada',
        name: 'greeter',
        description: 'Says hello',
        image: 'busybox:1.36',
        status: 'READY',
        statusMessage: '',
        revision: 1,
        defaultEnvironment: { GREETING: 'hello' },
        stateless: true,
        maxWorkers: 1,
        memLimit: '64m',
        maxCpus: 1,
        timeout: 60,
        cronSchedule: 'CRON_TZ=Europe/Berlin 0 6 * * *',
        cronOn: true,
        cronNextEx: '2026-01-31 05',
        cronNextTime: '2026-01-31T05:00:00.000Z',
        webhook: 'https://example.org/hook',
        removeWhenIdle: false,
        createTime: '2026-01-30T12:00:00.000Z',
        _links: { self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d' },
      },
    ],
  },
);

export function reactorRecord(
  reactor: Reactor,
  defaults: Pick<Config, 'default_memory' | 'default_cpus'>,
  baseUrl: string,
) {
  const self = `${baseUrl}/actors/v2/${reactor.id}`;
  const next = reactor.cronNextAt === null ? undefined : new Date(reactor.cronNextAt).toISOString();
  return {
    id: reactor.id,
    owner: reactor.ownerUsername,
    name: reactor.name,
    description: reactor.description,
    image: reactor.image,
    imageDigest: reactor.imageDigest,
    imageId: reactor.imageId,
    status: reactor.status,
    statusMessage: reactor.statusMessage,
    revision: reactor.revision,
    defaultEnvironment: reactor.environment,
    stateless: reactor.stateless,
    maxWorkers: reactor.maxWorkers,
    memLimit: asSize(reactor.memoryBytes ?? defaults.default_memory),
    maxCpus: reactor.cpus ?? defaults.default_cpus,
    timeout: reactor.timeoutSeconds,
    logEx: reactor.logSeconds,
    retries: reactor.retries,
    token: reactor.token,
    hints: [...reactor.hints],
    privileged: reactor.privileged,
    registryCredentials: reactor.registryCredentials,
    permissions: permissionMap(reactor),
    link: reactor.link,
    webhook: reactor.webhook,
    cronSchedule: reactor.cronSchedule,
    cronOn: reactor.cronOn,
    cronNextEx: next?.slice(0, 13).replace('T', ' ') ?? null,
    cronNextTime: next ?? null,
    removeWhenIdle: reactor.removeWhenIdle,
    type: reactor.legacy.type,
    queue: reactor.legacy.queue,
    useContainerUid: reactor.legacy.useContainerUid,
    createTime: new Date(reactor.createdAt).toISOString(),
    lastUpdateTime: new Date(reactor.updatedAt).toISOString(),
    _links: {
      self,
      owner: `${baseUrl}/profiles/v2/${reactor.ownerUsername}`,
      executions: `${self}/executions`,
      messages: `${self}/messages`,
    },
  };
}
