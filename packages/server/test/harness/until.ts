import { setTimeout as pause } from 'node:timers/promises';

/** Asks again and again until there is an answer other than undefined or false; fails loudly after a generous limit. */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  limitMs = 60_000,
): Promise<Answer> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${limitMs / 1000} s for ${what}`);
    await pause(20);
  }
}
