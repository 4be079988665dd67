import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CommandFailure } from '../exit-codes.ts';

const mostInput = 64 * 1024;

/** A password: asked for on the terminal without showing it. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY)
    throw new CommandFailure(
      'usage',
      'There is no terminal on which to ask for the password.',
      'Send it on standard input with --password-stdin.',
    );
  stderr.write(question);
  // The line editor shows what is typed by writing it; what it writes to leads nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  try {
    return await new Promise<string>((resolve, reject) => {
      editor.once('line', resolve);
      editor.once('SIGINT', () => reject(new CommandFailure('interrupted', 'Interrupted.')));
      editor.once('close', () => reject(new CommandFailure('usage', 'Nothing was typed.')));
    });
  } finally {
    editor.close();
    stderr.write('\n');
  }
}

/** The first line of standard input. */
export async function firstLine(what: string): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    size += bytes.length;
    if (bytes.includes(0x0a) || size > mostInput) break;
  }
  const [line = ''] = Buffer.concat(pieces).toString('utf8').split(/\r?\n/, 1);
  if (line === '')
    throw new CommandFailure('usage', `Standard input has no ${what} in its first line.`);
  return line;
}

/** All of standard input. */
export async function wholeInput(): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(Buffer.from(piece));
  return new Uint8Array(Buffer.concat(pieces));
}
