import type picocolors from 'picocolors';

type Colours = ReturnType<typeof picocolors.createColors>;

/** What others wrote must not move the cursor or forge a second line. */
export const harmless = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** Colours of the statuses of reactors and executions. */
export function paintStatus(text: string, status: string, colours: Colours): string {
  switch (status) {
    case 'READY':
    case 'COMPLETE':
      return colours.green(text);
    case 'RUNNING':
    case 'BUSY':
      return colours.cyan(text);
    case 'ERROR':
      return colours.red(text);
    default:
      return colours.yellow(text);
  }
}

const steps = [
  { seconds: 86_400, unit: 'd' },
  { seconds: 3_600, unit: 'h' },
  { seconds: 60, unit: 'm' },
] as const;

/** `5m ago`; times of execution records are UTC without saying so. */
export function ago(time: string | null | undefined, now = Date.now()): string {
  const at = readTime(time);
  if (at === undefined) return '';
  const seconds = Math.round((now - at) / 1000);
  if (seconds < 0) return `in ${span(-seconds)}`;
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`;
}

export function readTime(time: string | null | undefined): number | undefined {
  if (!time) return undefined;
  const at = Date.parse(/Z$|[+-]\d\d:\d\d$/.test(time) ? time : `${time.replace(' ', 'T')}Z`);
  return Number.isNaN(at) ? undefined : at;
}

export function span(seconds: number): string {
  const step = steps.find((one) => seconds >= one.seconds);
  return step === undefined ? `${seconds}s` : `${Math.floor(seconds / step.seconds)}${step.unit}`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = '';
  for (const next of units) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** Nanoseconds of CPU time, as seconds. */
export const cpuSeconds = (nanoseconds: number): string => `${(nanoseconds / 1e9).toFixed(2)} s`;

/** One of what, several of them. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;
