import { readConfig, SettingError, unknownEnvironmentNames } from './config-sources.ts';
import { sentenceFor } from './failure-sentence.ts';
import { openTerminal, UsageError } from './identity/terminal.ts';
import { usersCommand } from './identity/users-command.ts';
import { startService } from './service.ts';
import { stopOnSignals } from './stop-signals.ts';

/** The process: `serve`, which is meant when no word comes first, or `users`. */
async function main(): Promise<void> {
  const environment = process.env;
  for (const name of unknownEnvironmentNames(environment)) {
    process.stderr.write(
      `reactord: ${name} in the environment is not a setting and has no effect.\n`,
    );
  }
  const [word, ...rest] = process.argv.slice(2);
  if (word === 'users') {
    const { stdin: input, stdout: output, stderr: questions } = process;
    const terminal = openTerminal({ input, output, questions });
    await usersCommand({ words: rest, environment, terminal });
    // A standard input that nobody closes would keep the process.
    input.destroy();
    return;
  }
  if (word !== undefined && word !== 'serve' && !word.startsWith('-')) {
    throw new UsageError(`There is no command ${JSON.stringify(word)}; there are serve and users.`);
  }
  const flags = word === 'serve' ? rest : process.argv.slice(2);
  const starting = startService(readConfig({ flags, environment }), environment);
  stopOnSignals(starting);
  await starting;
}

main().catch((error: unknown) => {
  process.stderr.write(`reactord: ${sentenceFor(error)}\n`);
  process.exit(error instanceof SettingError || error instanceof UsageError ? 2 : 1);
});
