import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config-sources.ts';
import { CommandError, UsageError } from '../identity/command-errors.ts';
import { writeBackup } from './write-backup.ts';

const usage = `Usage: reactord backup FOLDER [OPTIONS]

Writes what the service keeps on this machine into a new folder, while the service runs: the store and the logs as they are
at one moment, the key of the secrets, and the name of the service. To restore, stop the service, put the folder in
the place of the data folder, and start it again.

A store in PostgreSQL is not part of it: back that up with pg_dump.

Options
  --data, --database, --config VALUE
                            where the service keeps its store; also from REACTORD_* and reactord.conf

Exit codes: 0 done, 1 not done, 2 the command line is wrong.
`;

const options = {
  help: { type: 'boolean', short: 'h' },
  data: { type: 'string' },
  database: { type: 'string' },
  config: { type: 'string' },
} as const;

/** `reactord backup FOLDER`: what to say when it is done. */
export function backupCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { values, positionals } = read(words);
  if (values.help === true) return usage;
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0)
    throw new UsageError('The form is: reactord backup FOLDER. See: reactord backup --help');
  const flags = (['data', 'database', 'config'] as const).flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const { data, database } = readConfig({ flags, environment });
  const dataFolder = resolve(data);
  if (!existsSync(dataFolder))
    throw new CommandError(
      `There is no data folder ${dataFolder}; say with --data where the service keeps it.`,
    );
  const { files, withoutStore } = writeBackup({ database, dataFolder }, resolve(folder));
  const sentence = `${resolve(folder)} has ${files.join(', ')}.\n`;
  return withoutStore
    ? `${sentence}The store is in PostgreSQL: back that up with pg_dump.\n`
    : sentence;
}

function read(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    const problem = error instanceof Error ? error.message.split('. ', 1)[0] : String(error);
    throw new UsageError(`${problem}. See: reactord backup --help`);
  }
}
