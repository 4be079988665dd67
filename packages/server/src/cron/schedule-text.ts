import { Cron } from 'croner';

/** When something is to happen again and again. Times are in ms since the epoch. */
export interface TimeTable {
  /** When it happens first, for somebody who asks for it now; undefined: never. */
  first(now: number): number | undefined;
  /** The next time after this one. */
  after(time: number): number | undefined;
  /** From when it counts; null where only the clock on the wall counts. */
  readonly startAt: number | null;
}

/** Text that is no schedule; the message says what is wrong with it. */
export class NoSchedule extends Error {}

const zone = /^(?:CRON_)?TZ=(\S+)\s+(.+)$/;
const interval =
  /^(?:(now)|(\d{4})-(\d{2})-(\d{2})\s+(\d{1,2}))\s*\+\s*(\d{1,4})\s+(hour|day|week|month)s?$/i;
const hourMs = 3_600_000;
const unitMs = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const;

export const scheduleExamples =
  '"30 9 * * MON-FRI", "CRON_TZ=Europe/Berlin 0 6 * * *", "2030-01-31 08 + 6 hours" or "now + 1 day"';

/**
 * Reads a cron expression of five fields, in UTC or in the zone named before it; or a start and an interval. `startAt`:
 * from when an interval that began with `now` counts, where that has been decided already.
 */
export function readSchedule(text: string, startAt?: number | null): TimeTable {
  const given = text.trim();
  const match = interval.exec(given);
  return match === null ? readCron(given) : readInterval(match, startAt ?? null);
}

function readCron(given: string): TimeTable {
  const [, named, rest] = zone.exec(given) ?? [];
  const timezone = named ?? 'UTC';
  if (!isZone(timezone))
    throw new NoSchedule(
      `${timezone} is not the name of a time zone; write one like Europe/Berlin`,
    );
  const after = (time: number): number | undefined => cron.nextRun(new Date(time))?.getTime();
  const cron = cronOf(rest ?? given, timezone);
  return { first: after, after, startAt: null };
}

function cronOf(pattern: string, timezone: string): Cron {
  try {
    // Without a function it is only a calendar.
    return new Cron(pattern, { timezone, mode: '5-part' });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '';
    throw new NoSchedule(reason.replace(/, exactly five, six, or seven.*$/, '').slice(0, 200));
  }
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function readInterval(match: RegExpExecArray, decided: number | null): TimeTable {
  const [, now, year, month, day, hour, count, unit = ''] = match;
  const every = Number(count);
  if (every === 0) throw new NoSchedule('the number after + is 1 or more');
  const fixed =
    now === undefined ? utc(Number(year), Number(month), Number(day), Number(hour)) : undefined;
  const step = (start: number, times: number): number => {
    const key = unit.toLowerCase();
    if (key === 'hour' || key === 'day' || key === 'week')
      return start + times * every * unitMs[key];
    return plusMonths(start, times * every);
  };
  return {
    startAt: fixed ?? decided,
    first: (asked) => {
      const start = fixed ?? asked;
      if (start < asked - hourMs) throw new NoSchedule('its start is in the past');
      return Math.max(start, asked);
    },
    after: (time) => {
      const start = fixed ?? decided ?? time;
      if (time < start) return start;
      // Guessed from the shortest length that the interval can have, then counted down to the first that is later.
      const shortest = step(start, 1) - start;
      let times = Math.max(1, Math.floor(((time - start) / shortest) * 0.9));
      while (step(start, times) > time && times > 1) times -= 1;
      while (step(start, times) <= time) times += 1;
      return step(start, times);
    },
  };
}

function utc(year: number, month: number, day: number, hour: number): number {
  const time = Date.UTC(year, month - 1, day, hour);
  const back = new Date(time);
  if (back.getUTCMonth() !== month - 1 || back.getUTCDate() !== day || hour > 23)
    throw new NoSchedule('its start is not a day and hour of the calendar');
  return time;
}

/** The same day of a later month, or that month's last. */
function plusMonths(start: number, months: number): number {
  const from = new Date(start);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), last);
  return Date.UTC(year, month, day) + (start % (24 * hourMs));
}
