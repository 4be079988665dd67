import { NoSchedule, readSchedule, scheduleExamples } from '../cron/schedule-text.ts';
import { fail } from '../errors.ts';
import type { ReactorSettings } from './reactor.ts';

/** When a schedule that was not there before fires first. Nothing is fired while it is switched off. */
export function firstFirings(
  { cronSchedule, cronOn }: Pick<ReactorSettings, 'cronSchedule' | 'cronOn'>,
  now: number,
): { readonly cron_start_at: number | null; readonly cron_next_at: number | null } {
  if (cronSchedule === null || !cronOn) return { cron_start_at: null, cron_next_at: null };
  try {
    const table = readSchedule(cronSchedule);
    const first = table.first(now) ?? null;
    return { cron_start_at: table.startAt ?? first, cron_next_at: first };
  } catch (error) {
    if (error instanceof NoSchedule)
      throw fail('invalid_field', {
        field: 'cron_schedule',
        problem: `${error.message}. Write it like ${scheduleExamples}`,
      });
    throw error;
  }
}
