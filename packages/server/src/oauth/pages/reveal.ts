/**
 * Text that a stranger chose (the name of an application, its owner, its description) must not change how the page
 * around it reads. Characters that show nothing or turn the direction of writing are written out as their code, so that
 * "Admin" followed by something invisible does not pass for "Admin".
 */

// Default_Ignorable_Code_Point holds the bidi controls, zero-width characters, fillers, tags and variation selectors.
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/gu;

// Emoji families and several scripts cannot be written without joiners and variation selectors; elsewhere they only hide.
const joinable = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Mark}\p{Script=Arabic}]$/u;
const presentable = /[\p{Extended_Pictographic}\p{Emoji_Modifier}0-9#*]$/u;

// Marks pile up without a limit and would be drawn over the lines above and below. No writing system needs more than these.
const marksInARow = 3;
const piledMarks = new RegExp(`(\\p{Mark}{${marksInARow}})(\\p{Mark}+)`, 'gu');

const blank = /^[\s\u2800]*$/u;

function belongsThere(character: string, before: string): boolean {
  if (character === '\u200C' || character === '\u200D') return joinable.test(before);
  if (character === '\uFE0E' || character === '\uFE0F') return presentable.test(before);
  return false;
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Writes hidden characters out as their code, for example `[U+202E]`. */
export function reveal(text: string): string {
  const revealed = text.replace(hidden, (character, at: number) =>
    // Two code units are the longest single character that can stand before it.
    belongsThere(character, text.slice(Math.max(0, at - 2), at)) ? character : codeOf(character),
  );
  return revealed.replace(piledMarks, (_run, kept: string, rest: string) => {
    return `${kept}[${Array.from(rest).length} more marks]`;
  });
}

/** Cuts a text that would push what matters off the screen, and says how much is missing. */
function shorten(text: string, limit: number): string {
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  const missing = characters.length - limit;
  const count = `${missing.toLocaleString('en')} more character${missing === 1 ? '' : 's'}`;
  return `${characters.slice(0, limit).join('')}… (${count})`;
}

const nameLimit = 120;
const proseLimit = 300;

/** A name as a page shows it: never empty, never endless. Hidden characters are revealed when the template prints it. */
export function shownName(name: string): string {
  return blank.test(name) ? '(blank name)' : shorten(name, nameLimit);
}

/** A text of several lines as its paragraphs. */
export function paragraphs(text: string): string[] {
  return shorten(text.trim(), proseLimit)
    .split(/[\r\n]+/)
    .filter((line) => !blank.test(line));
}
