import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { CommandError } from './command-errors.ts';

/** Where a command reads and writes. */
export interface Terminal {
  say(text: string): void;
  /** A new password: asked for twice without showing it, or the first line of standard input. */
  readNewPassword(username: string): Promise<string>;
}

interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  /** Questions go here, so that the output can be piped on. */
  readonly questions: Writable;
}

const mostInput = 64 * 1024;

export function openTerminal({ input, output, questions }: Streams): Terminal {
  return {
    say: (text) => void output.write(text),
    async readNewPassword(username) {
      if (input.isTTY !== true) return await firstLine(input);
      const first = await ask(input, questions, `New password of ${username}: `);
      const second = await ask(input, questions, 'The same again: ');
      if (first !== second)
        throw new CommandError('The two passwords differ; nothing was changed.');
      return first;
    },
  };
}

async function firstLine(input: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of input) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    size += bytes.length;
    if (bytes.includes(0x0a) || size > mostInput) break;
  }
  const [line = ''] = Buffer.concat(pieces).toString('utf8').split(/\r?\n/, 1);
  if (line === '') {
    throw new CommandError(
      'Standard input has no password in its first line; send one, or use --generate.',
    );
  }
  return line;
}

/** The line editor shows what is typed by writing it; what it writes to leads nowhere. */
async function ask(input: Readable, questions: Writable, question: string): Promise<string> {
  questions.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  try {
    return await new Promise<string>((resolve, reject) => {
      editor.once('line', resolve);
      editor.once('SIGINT', () => reject(new CommandError('Interrupted; nothing was changed.')));
      editor.once('close', () => reject(new CommandError('No password was given.')));
    });
  } finally {
    editor.close();
    questions.write('\n');
  }
}
