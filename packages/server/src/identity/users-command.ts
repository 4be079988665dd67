import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readConfig } from '../config-sources.ts';
import { nearest } from '../nearest.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { CommandError, UsageError } from './command-errors.ts';
import { assembleIdentity } from './identity.ts';
import type { Terminal } from './terminal.ts';
import { userActions } from './user-actions.ts';
import { readWords, seeHelp, type UsersOptions } from './users-options.ts';
import { usersUsage } from './users-usage.ts';

interface Invocation {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
}

/**
 * `reactord users …`: works on the store itself, with or without a running service; a running one gets to know of
 * the change within two seconds. Whoever may read and write the store is its operator, so nobody is asked who they are.
 */
export async function usersCommand({ words, environment, terminal }: Invocation): Promise<void> {
  const { values, positionals } = readWords(words);
  const [name, ...operands] = positionals;
  if (values.help === true || name === 'help') return terminal.say(usersUsage);
  if (name === undefined) throw new UsageError(`Which command? ${seeHelp}`);
  const action = userActions[name];
  if (action === undefined) {
    const near = nearest(name, Object.keys(userActions));
    const hint = near === undefined ? '' : `, did you mean ${near}?`;
    throw new UsageError(`users has no command ${JSON.stringify(name)}${hint} ${seeHelp}`);
  }
  if (operands.length !== action.operands.length) {
    const form = ['reactord users', name, ...action.operands].join(' ');
    throw new UsageError(`The form is: ${form}. ${seeHelp}`);
  }
  refuseForeignOptions(name, values, action.options);
  const store = await openExisting(values, environment);
  try {
    const log = { info: () => {}, warn: () => {} };
    const limits = { session_idle_limit: 0, session_lifetime: 0 };
    const { users } = assembleIdentity({ store, config: limits, log });
    await action.run({ users, operands, options: values, terminal });
  } finally {
    await store.close();
  }
}

const everywhere: readonly string[] = ['help', 'data', 'database', 'config'];

function refuseForeignOptions(name: string, values: UsersOptions, own: readonly string[]): void {
  const foreign = Object.keys(values).find(
    (key) => !own.includes(key) && !everywhere.includes(key),
  );
  if (foreign === undefined) return;
  throw new UsageError(`users ${name} does not take --${foreign}. ${seeHelp}`);
}

/** Opens the store of a service that has been started before; a typing mistake must not make a second, empty one. */
async function openExisting(
  values: UsersOptions,
  environment: Invocation['environment'],
): Promise<Store> {
  const flags = (['data', 'database', 'config'] as const).flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const config = readConfig({ flags, environment });
  const dataFolder = resolve(config.data);
  if (!/^postgres(ql)?:\/\//i.test(config.database ?? '')) {
    const file = config.database ?? `${dataFolder}/reactord.db`;
    if (!existsSync(file)) {
      throw new CommandError(
        `There is no database at ${file}; start the service once, or say with --data or --database where it is.`,
      );
    }
  }
  return await openStore({ database: config.database, dataFolder });
}
