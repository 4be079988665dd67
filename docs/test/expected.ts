/** Whether an output is the expected one: `…` stands for anything within a line, on a line of its own for any lines. */
export function isExpected(output: string, expected: string): boolean {
  return new RegExp(`^${patternOf(expected)}$`, 'u').test(`${plain(output).trim()}\n`);
}

/** Whether the output so far holds the expected one: for what goes on printing. */
export function holdsExpected(output: string, expected: string): boolean {
  return new RegExp(`^\\s*${patternOf(expected)}`, 'mu').test(plain(output));
}

function patternOf(expected: string): string {
  const lines = expected.trim().split('\n');
  return lines.map((line) => (line.trim() === '…' ? anyLines : patternOfLine(line))).join('');
}

const anyLines = '(?:[^\\n]*\\n)*?';

const patternOfLine = (line: string): string =>
  `${line.trimEnd().split('…').map(escaped).join('.*')}[ \\t]*\\n`;

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Without the colours of a terminal. */
function plain(text: string): string {
  return text.replaceAll(new RegExp(`${escapeCharacter}\\[[0-9;]*m`, 'g'), '').replaceAll('\r', '');
}

const escapeCharacter = String.fromCharCode(27);
