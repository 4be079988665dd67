import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CommandFailure } from '../exit-codes.ts';
import type { Action } from '../run.ts';

/** The program of the service, where it is installed beside the command line. */
export function serverProgram(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@reactord/server/package.json');
    return join(dirname(manifest), 'src', 'main.ts');
  } catch {
    return undefined;
  }
}

/** Becomes the service's own program, so that signals and exit codes are its own. */
export function becomeServer(words: readonly string[]): never {
  const program = serverProgram();
  if (program === undefined || process.execve === undefined)
    throw new CommandFailure(
      'failed',
      'The service is not installed here, only the command line.',
      'Run it in a clone of reactord, where npm start does the rest.',
    );
  const environment = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return process.execve(process.execPath, [process.execPath, program, ...words], environment);
}

export const run =
  (word: 'serve' | 'worker' | 'backup'): Action<object> =>
  async (_context, operands) =>
    becomeServer([word, ...operands.filter((each) => each !== undefined)]);
