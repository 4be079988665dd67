import type { Config } from '../config.ts';
import { NoSchedule, readSchedule, scheduleExamples } from '../cron/schedule-text.ts';
import { readReference } from '../engines/image-reference.ts';
import { fail, type ServiceError } from '../errors.ts';
import { readBytes } from '../setting-kinds.ts';
import type { LegacyFields, ReactorSettings } from './reactor.ts';
import type { RegisteredReactor } from './reactor-fields.ts';
import { readEnvironment } from './registered-environment.ts';
import { readWebhook } from './webhook-address.ts';

/** What the operator allows and presets. */
export type ReactorLimits = Pick<
  Config,
  | 'most_memory'
  | 'most_cpus'
  | 'most_workers'
  | 'execution_time_limit'
  | 'log_retention'
  | 'most_retries'
  | 'allow_privileged'
  | 'second_prefix'
  | 'webhook_allow'
>;

const leastMemory = 8 * 1024 ** 2;
const mostMemory = 1024 * 1024 ** 3;
/** Less than a hundredth of a core the engine does not give. */
const leastCpus = 0.01;
const mostCpus = 1024;
const leastNanocpus = 1_000_000;

/** The settings that a body means; what it does not say has its default. `exempt`: an admin, who may exceed the caps. */
export function readSettings(
  given: RegisteredReactor,
  limits: ReactorLimits,
  exempt: boolean,
): ReactorSettings {
  if (readReference(given.image) === undefined)
    throw invalid(
      'image',
      'is not an image reference; write it like busybox, registry.example.org/team/tool:1.2 or name@sha256:…',
    );
  const { stateless = true, max_workers: maxWorkers = 1, privileged = false } = given;
  if (!stateless && maxWorkers > 1)
    throw invalid(
      'max_workers',
      'takes 1 with stateless=false: a reactor with state runs one execution at a time',
    );
  if (privileged && !limits.allow_privileged)
    throw fail('not_allowed', {
      problem: 'privileged: the operator of this service does not allow privileged containers.',
    });
  const cap = (field: string, value: number, most: number, shown: string | number): number => {
    if (value <= most || exempt) return value;
    throw invalid(field, `takes at most ${shown} here; an admin may set more`);
  };
  return {
    description: given.description ?? '',
    image: given.image,
    environment: readEnvironment(given.default_environment ?? {}, limits.second_prefix),
    stateless,
    maxWorkers: cap('max_workers', maxWorkers, limits.most_workers, limits.most_workers),
    memoryBytes:
      given.mem_limit === undefined
        ? null
        : cap('mem_limit', memory(given.mem_limit), limits.most_memory, asSize(limits.most_memory)),
    cpus:
      given.max_cpus === undefined
        ? null
        : cap('max_cpus', cores(given.max_cpus), limits.most_cpus, `${limits.most_cpus} cores`),
    timeoutSeconds: cap(
      'timeout',
      given.timeout ?? limits.execution_time_limit,
      limits.execution_time_limit,
      `${limits.execution_time_limit} seconds`,
    ),
    logSeconds: cap(
      'log_ex',
      given.log_ex ?? limits.log_retention,
      limits.log_retention,
      `${limits.log_retention} seconds`,
    ),
    retries: cap('retries', given.retries ?? 0, limits.most_retries, limits.most_retries),
    token: given.token ?? true,
    hints: given.hints ?? [],
    privileged,
    registryCredentials: given.registry_credentials ?? null,
    link: given.link ?? null,
    webhook: given.webhook === undefined ? null : readWebhook(given.webhook, limits),
    ...schedule(given),
    removeWhenIdle: given.remove_when_idle ?? false,
    legacy: legacy(given),
  };
}

function legacy(given: RegisteredReactor): LegacyFields {
  return {
    type: given.type ?? 'none',
    queue: given.queue ?? 'default',
    useContainerUid: given.use_container_uid ?? false,
  };
}

/** Whether the start of a schedule may lie in the past depends on the schedule before it: reactors.ts looks at that. */
function schedule(given: RegisteredReactor): Pick<ReactorSettings, 'cronSchedule' | 'cronOn'> {
  const text = given.cron_schedule?.trim() ?? '';
  if (text === '') {
    if (given.cron_on === true) throw invalid('cron_on', 'needs a cron_schedule');
    return { cronSchedule: null, cronOn: false };
  }
  try {
    const table = readSchedule(text);
    if (table.after(Date.now()) === undefined) throw new NoSchedule('that time never comes');
  } catch (error) {
    if (error instanceof NoSchedule)
      throw invalid('cron_schedule', `${error.message}. Write it like ${scheduleExamples}`);
    throw error;
  }
  return { cronSchedule: text, cronOn: given.cron_on ?? true };
}

/** Bytes as people write them: in the largest unit that says it exactly. */
export function asSize(bytes: number): string {
  const units = [
    ['g', 1024 ** 3],
    ['m', 1024 ** 2],
    ['k', 1024],
  ] as const;
  const unit = units.find(([, factor]) => bytes > 0 && bytes % factor === 0);
  return unit === undefined ? String(bytes) : `${bytes / unit[1]}${unit[0]}`;
}

function memory(given: string | number): number {
  const bytes = typeof given === 'number' ? given : readBytes(given);
  if (bytes === undefined || bytes < leastMemory || bytes > mostMemory)
    throw invalid('mem_limit', 'takes a size from 8m to 1024g, such as 512m, or that many bytes');
  return bytes;
}

function cores(given: string | number): number {
  const number =
    typeof given === 'number' ? given : /^\d{1,15}(\.\d{1,9})?$/.test(given) ? Number(given) : 0;
  const isNano = number >= leastNanocpus && Number.isSafeInteger(number);
  // Kept in thousandths, which is finer than any engine shares its cores out.
  const value = Math.round((isNano ? number / 1_000_000_000 : number) * 1000) / 1000;
  if (value >= leastCpus && value <= mostCpus) return value;
  throw invalid(
    'max_cpus',
    'takes a number of cores from 0.01 to 1024, such as 0.5, or nanocpus as a whole number from 10000000 up',
  );
}

const invalid = (field: string, problem: string): ServiceError =>
  fail('invalid_field', { field, problem });
