import { type Kysely, type Selectable, sql } from 'kysely';
import { readQuotas } from '../identity/quotas.ts';
import type { ReactorsTable } from '../store/reactor-tables.ts';
import type { Schema } from '../store/schema.ts';
import { prepared } from '../store/statement.ts';
import type { LegacyFields, Reactor, ReactorSettings } from './reactor.ts';
import { readPermissions } from './reactor-access.ts';

/** Reactors as the store keeps them, and the statements that change them. */

type ReactorRow = Pick<Selectable<ReactorsTable>, (typeof columns)[number]> & {
  readonly username: string | null;
  readonly permissions: string | null;
  readonly configs: number;
  readonly quotas: string | null;
  readonly roles: string | null;
};

/** Without the counters that every message moves. */
const columns = [
  'id',
  'owner_id',
  'name',
  'description',
  'image',
  'image_id',
  'image_digest',
  'default_environment',
  'stateless',
  'max_workers',
  'mem_limit',
  'max_cpus',
  'timeout',
  'log_ex',
  'retries',
  'token',
  'hints',
  'legacy',
  'privileged',
  'registry_credentials',
  'world_level',
  'status',
  'status_message',
  'revision',
  'link',
  'webhook',
  'webhook_key',
  'webhook_rotated_at',
  'cron_schedule',
  'cron_on',
  'cron_start_at',
  'cron_next_at',
  'remove_when_idle',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ReactorsTable)[];

/** In one text, and so in one query with the reactor: the same function in both databases. */
const permissions = sql<string | null>`(
  select string_agg(p.user_id || ' ' || u.username || ' ' || p.level, ',')
  from reactor_permissions as p inner join users as u on u.id = p.user_id
  where p.reactor_id = reactors.id
)`;

const configs = sql<number>`(select count(*) from config_reactors as c where c.reactor_id = reactors.id)`;

/** Also those whose owner is gone: they are on their way out. */
export function selectReactors(read: Kysely<Schema>) {
  return read
    .selectFrom('reactors')
    .leftJoin('users', 'users.id', 'reactors.owner_id')
    .select(columns.map((column) => `reactors.${column}` as const))
    .select([
      'users.username',
      'users.quotas',
      'users.roles',
      permissions.as('permissions'),
      configs.as('configs'),
    ]);
}

export function reactorFrom(row: ReactorRow): Reactor {
  return {
    id: row.id,
    ownerId: row.owner_id,
    ownerUsername: row.username ?? '',
    ownerQuotas: readQuotas(row.quotas ?? '{}'),
    ownerIsAdmin: texts(row.roles ?? '[]').includes('admin'),
    name: row.name,
    description: row.description,
    image: row.image,
    imageDigest: row.image_digest,
    imageId: row.image_id,
    environment: textsByName(row.default_environment),
    stateless: row.stateless === 1,
    maxWorkers: row.max_workers,
    memoryBytes: row.mem_limit,
    cpus: row.max_cpus === null ? null : row.max_cpus / 1000,
    timeoutSeconds: row.timeout,
    logSeconds: row.log_ex,
    retries: row.retries,
    token: row.token === 1,
    hints: texts(row.hints),
    privileged: row.privileged === 1,
    registryCredentials: row.registry_credentials,
    legacy: legacyFrom(row.legacy),
    status: row.status,
    statusMessage: row.status_message,
    revision: row.revision,
    configs: Number(row.configs),
    permissions: readPermissions(row.permissions),
    worldLevel: row.world_level ?? undefined,
    link: row.link,
    webhook: row.webhook,
    webhookKey: row.webhook_key,
    webhookRotatedAt: row.webhook_rotated_at,
    cronSchedule: row.cron_schedule,
    cronOn: row.cron_on === 1,
    cronStartAt: row.cron_start_at,
    cronNextAt: row.cron_next_at,
    removeWhenIdle: row.remove_when_idle === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The columns that a registration or a PUT sets. */
export function columnsOf(settings: ReactorSettings) {
  return {
    description: settings.description,
    image: settings.image,
    default_environment: JSON.stringify(settings.environment),
    stateless: settings.stateless ? 1 : 0,
    max_workers: settings.maxWorkers,
    mem_limit: settings.memoryBytes,
    max_cpus: settings.cpus === null ? null : Math.round(settings.cpus * 1000),
    timeout: settings.timeoutSeconds,
    log_ex: settings.logSeconds,
    retries: settings.retries,
    token: settings.token ? 1 : 0,
    hints: JSON.stringify(settings.hints),
    privileged: settings.privileged ? 1 : 0,
    registry_credentials: settings.registryCredentials,
    link: settings.link,
    webhook: settings.webhook,
    cron_schedule: settings.cronSchedule,
    cron_on: settings.cronOn ? 1 : 0,
    remove_when_idle: settings.removeWhenIdle ? 1 : 0,
    legacy: JSON.stringify(settings.legacy),
  };
}

/** Changes nothing, and makes whoever wants to delete the user wait until the commit. */
export const holdOwner = prepared((db, p: { ownerId: string }) =>
  db
    .updateTable('users')
    .set((eb) => ({ status: eb.ref('status') }))
    .where('id', '=', p.ownerId),
);

export const markShuttingDown = prepared((db, p: { id: string; now: number }) =>
  db
    .updateTable('reactors')
    .set({ status: 'SHUTTING_DOWN', status_message: '', updated_at: p.now, tended_at: p.now })
    .where('id', '=', p.id)
    .where('status', '!=', 'SHUTTING_DOWN'),
);

export const deleteReactor = prepared((db, p: { id: string }) =>
  db.deleteFrom('reactors').where('id', '=', p.id),
);

/** What came of a pull counts only for the revision that asked for it, and never for a reactor that is going. */
interface OfRevision {
  readonly id: string;
  readonly revision: number;
}

export const markReady = prepared(
  (
    db,
    p: OfRevision & {
      imageId: string;
      digest: string | null;
      message: string;
    },
  ) =>
    db
      .updateTable('reactors')
      .set({
        status: 'READY',
        status_message: p.message,
        image_id: p.imageId,
        image_digest: p.digest,
        pull_asked: 0,
      })
      .where('id', '=', p.id)
      .where('revision', '=', p.revision)
      .where('status', '!=', 'SHUTTING_DOWN'),
);

export const markError = prepared((db, p: OfRevision & { message: string }) =>
  db
    .updateTable('reactors')
    .set({ status: 'ERROR', status_message: p.message, pull_asked: 0 })
    .where('id', '=', p.id)
    .where('revision', '=', p.revision)
    .where('status', '!=', 'SHUTTING_DOWN'),
);

export const sayProgress = prepared((db, p: OfRevision & { message: string }) =>
  db
    .updateTable('reactors')
    .set({ status_message: p.message })
    .where('id', '=', p.id)
    .where('revision', '=', p.revision)
    .where('status', '=', 'SUBMITTED'),
);

function texts(json: string): readonly string[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function textsByName(json: string): Readonly<Record<string, string>> {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) =>
      typeof entry === 'string' ? [[name, entry]] : [],
    ),
  );
}

function legacyFrom(json: string): LegacyFields {
  const value: unknown = JSON.parse(json);
  const given = typeof value === 'object' && value !== null ? value : {};
  return {
    type: 'type' in given && typeof given.type === 'string' ? given.type : 'none',
    queue: 'queue' in given && typeof given.queue === 'string' ? given.queue : 'default',
    useContainerUid: 'useContainerUid' in given && given.useContainerUid === true,
  };
}
