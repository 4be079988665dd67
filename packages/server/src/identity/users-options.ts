import { parseArgs } from 'node:util';
import { UsageError } from './command-errors.ts';

/** The options of the actions, and those settings of the service that say where the store is. */
const options = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  generate: { type: 'boolean' },
  email: { type: 'string' },
  'first-name': { type: 'string' },
  'last-name': { type: 'string' },
  grant: { type: 'string', multiple: true },
  role: { type: 'string', multiple: true },
  data: { type: 'string' },
  database: { type: 'string' },
  config: { type: 'string' },
} as const;

export type UsersOptions = ReturnType<typeof readWords>['values'];

export const seeHelp = 'See: reactord users --help';

export function readWords(words: readonly string[]) {
  if (words.some((word) => /^--password(=|$)/.test(word))) {
    throw new UsageError(
      'A password is never an argument, where others can see it; it is asked for, or read from standard input.',
    );
  }
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    const problem = error instanceof Error ? error.message.split('. ', 1)[0] : String(error);
    throw new UsageError(`${problem}. ${seeHelp}`);
  }
}
