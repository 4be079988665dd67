import { InvalidArgumentError } from 'commander';

/** Readers for the values of options. */

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(number) || number < least || number > most)
      throw new InvalidArgumentError(
        most === Number.MAX_SAFE_INTEGER
          ? `It takes a whole number from ${least}.`
          : `It takes a whole number from ${least} to ${most}.`,
      );
    return number;
  };
}

const unitSeconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90`, `90s`, `5m`, `12h`, `2d`: as seconds. */
export function seconds(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  const factor = unitSeconds[unit];
  if (number === undefined || factor === undefined)
    throw new InvalidArgumentError(
      'It takes seconds, or a number with s, m, h or d behind it, such as 5m.',
    );
  return Number(number) * factor;
}

/** May be given several times. */
export const collect = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];

/** `K=V`, several times. */
export function pairs(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It takes NAME=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
