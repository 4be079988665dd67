import { randomBytes } from 'node:crypto';

/** Letters and digits that are not mistaken for one another when copied by hand: no 0/O, 1/l/I. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Asked for in bulk: a call for each id would take longer than all the rest of making it. */
const poolBytes = 4096;
let pool = Buffer.alloc(0);
let used = 0;

function nextByte(): number {
  if (used === pool.length) {
    pool = randomBytes(poolBytes);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  used += 1;
  return byte;
}

/** A random text of the alphabet, each character with the same chance. */
export function randomText(length: number): string {
  // Bytes past the last whole multiple of the alphabet would favour its first characters.
  const bound = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    const byte = nextByte();
    if (byte < bound) text += alphabet[byte % alphabet.length];
  }
  return text;
}

const idLength = 14;

/** A new id: 14 characters hold 81 bits, so that two never meet. */
export const newId = (): string => randomText(idLength);

/** Whether a text could have been made by `newId`: names that people choose must not. */
export function looksLikeId(text: string): boolean {
  return text.length === idLength && [...text].every((character) => alphabet.includes(character));
}

const timeCharacters = 8;

/**
 * A new id that is greater than those made before it: its first characters are the time. What is written again and
 * again in great number stays together in the indexes of the store, and a commit touches few pages.
 */
export function risingId(): string {
  return timeText(Date.now()) + randomText(idLength - timeCharacters);
}

/** Less than every rising id that is made from this time on, and greater than those before it. */
export const risingBound = (time: number): string => timeText(Math.max(0, time));

let lastTime = { ms: -1, text: '' };

function timeText(ms: number): string {
  // Many are made in the same millisecond.
  if (lastTime.ms !== ms) lastTime = { ms, text: spellTime(ms) };
  return lastTime.text;
}

function spellTime(ms: number): string {
  let rest = ms;
  let time = '';
  for (let place = 0; place < timeCharacters; place += 1) {
    time = alphabet[rest % alphabet.length] + time;
    rest = Math.floor(rest / alphabet.length);
  }
  return time;
}
