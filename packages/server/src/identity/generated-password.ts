import { randomText } from '../ids.ts';

/** Four groups of five, 116 bits: strong, and still possible to type. */
export const generatePassword = (): string =>
  Array.from({ length: 4 }, () => randomText(5)).join('-');
