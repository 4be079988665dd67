import { NoSchedule, readSchedule, scheduleExamples } from '../cron/schedule-text.ts';
import { fail } from '../errors.ts';
import type { Reactor, ReactorSettings } from './reactor.ts';

interface Firings {
  readonly cron_start_at: number | null;
  readonly cron_next_at: number | null;
}

/**
 * When a schedule that was not in effect before fires first; nothing is fired while it is switched off. One that was only
 * switched off goes on as it was, also where its start is long past.
 */
export function firstFirings(
  { cronSchedule, cronOn }: Pick<ReactorSettings, 'cronSchedule' | 'cronOn'>,
  now: number,
  before?: Pick<Reactor, 'cronSchedule' | 'cronStartAt'>,
): Firings {
  if (cronSchedule === null) return { cron_start_at: null, cron_next_at: null };
  const known = before?.cronSchedule === cronSchedule;
  try {
    const table = readSchedule(cronSchedule, known ? before.cronStartAt : null);
    const goesOn = known && table.startAt !== null;
    const next = (goesOn ? table.after(now) : table.first(now)) ?? null;
    if (!cronOn) return { cron_start_at: table.startAt, cron_next_at: null };
    return { cron_start_at: table.startAt ?? next, cron_next_at: next };
  } catch (error) {
    if (error instanceof NoSchedule)
      throw fail('invalid_field', {
        field: 'cron_schedule',
        problem: `${error.message}. Write it like ${scheduleExamples}`,
      });
    throw error;
  }
}
