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
  `${line.trimEnd().split('…').map(patternOfText).join('.*')}[ \\t]*\\n`;

/** What is made anew each time: in a recording it stands as it was that day, and here for any of its kind. */
const madeAnew = [
  { example: /\b\w{5}(?:-\w{5}){3}\b/, pattern: '\\w{5}(?:-\\w{5}){3}' },
  { example: /\b[A-Z]{4}-[A-Z]{4}\b/, pattern: '[A-Z]{4}-[A-Z]{4}' },
  { example: /\b(?=\w*\d)(?=\w*[A-Z])[0-9A-Za-z]{14}\b/, pattern: '[0-9A-Za-z]{14}' },
];

function patternOfText(text: string): string {
  for (const { example, pattern } of madeAnew) {
    const found = example.exec(text);
    if (found === null) continue;
    const [before, after] = [text.slice(0, found.index), text.slice(found.index + found[0].length)];
    return patternOfText(before) + pattern + patternOfText(after);
  }
  return escaped(text);
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Without the colours of a terminal. */
function plain(text: string): string {
  return text.replaceAll(new RegExp(`${escapeCharacter}\\[[0-9;]*m`, 'g'), '').replaceAll('\r', '');
}

const escapeCharacter = String.fromCharCode(27);
