/** Times of executions are in microseconds since the epoch, UTC: their records show six digits. */

/** How far the monotonic clock may be from the wall clock before it is set anew. */
const toleranceMs = 5;
let origin = performance.timeOrigin;

/** Now. Never goes backwards by less than the wall clock itself does. */
export function nowInMicroseconds(): number {
  const wall = Date.now();
  if (Math.abs(origin + performance.now() - wall) > toleranceMs) origin = wall - performance.now();
  return Math.round((origin + performance.now()) * 1000);
}

/** Reads an ISO 8601 time with as many digits as it has, such as the engine's nanoseconds; undefined when it is none. */
export function microsecondsOf(iso: string): number | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(iso);
  if (parts === null) return undefined;
  const [, seconds = '', fraction = '', zone = ''] = parts;
  const whole = Date.parse(`${seconds}${zone}`);
  // Engines say 0001-01-01 for "never".
  if (Number.isNaN(whole) || whole <= 0) return undefined;
  return whole * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}

/** `2017-10-06 15:53:55.615958`: UTC, without a zone. */
export function shownTime(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0');
  return `${new Date(milliseconds).toISOString().slice(0, -1).replace('T', ' ')}${rest}`;
}
