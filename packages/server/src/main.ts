import { flushCompileCache } from 'node:module';
import type { Config } from './config.ts';
import { readConfig, SettingError, unknownEnvironmentNames } from './config-sources.ts';
import { sentenceFor } from './failure-sentence.ts';
import { UsageError } from './identity/command-errors.ts';
import type { Service } from './service.ts';
import { stopOnSignals } from './stop-signals.ts';

/** The process: `serve`, which is meant when no word comes first, `worker`, `users`, `backup` or `doctor`. */
async function main(): Promise<void> {
  for (const name of unknownEnvironmentNames(process.env)) {
    process.stderr.write(
      `reactord: ${name} in the environment is not a setting and has no effect.\n`,
    );
  }
  const [word, ...rest] = process.argv.slice(2);
  if (word === 'users') return await users(rest);
  if (word === 'backup') return await backup(rest);
  if (word === 'doctor') return await doctor(rest);
  if (word === 'worker') return await work(rest);
  if (word !== undefined && word !== 'serve' && !word.startsWith('-')) {
    throw new UsageError(
      `There is no command ${JSON.stringify(word)}; there are serve, worker, users, backup and doctor.`,
    );
  }
  await serve(word === 'serve' ? rest : process.argv.slice(2));
}

// Each way loads what it needs and nothing of the other: a command that lists users need not load a web server.

async function serve(flags: readonly string[]): Promise<void> {
  const load = async () => (await import('./service.ts')).startService;
  await runUntilStopped(flags, load);
}

async function work(flags: readonly string[]): Promise<void> {
  const load = async () => (await import('./worker.ts')).startWorker;
  await runUntilStopped(flags, load);
}

async function runUntilStopped(
  flags: readonly string[],
  load: () => Promise<(config: Config, environment: NodeJS.ProcessEnv) => Promise<Service>>,
): Promise<void> {
  const environment = process.env;
  const config = readConfig({ flags, environment });
  const starting = load().then((start) => start(config, environment));
  stopOnSignals(starting);
  await starting;
  // Node writes its cache of compiled files at the exit; a process that is killed would leave the next start slow.
  flushCompileCache();
}

async function users(words: readonly string[]): Promise<void> {
  const { usersCommand } = await import('./identity/users-command.ts');
  const { openTerminal } = await import('./identity/terminal.ts');
  const { stdin: input, stdout: output, stderr: questions, env: environment } = process;
  await usersCommand({
    words,
    environment,
    terminal: openTerminal({ input, output, questions }),
  });
  // A standard input that nobody closes would keep the process.
  input.destroy();
}

async function backup(words: readonly string[]): Promise<void> {
  const { backupCommand } = await import('./backup/backup-command.ts');
  process.stdout.write(backupCommand(words, process.env));
}

async function doctor(words: readonly string[]): Promise<void> {
  const { doctorCommand } = await import('./doctor/doctor-command.ts');
  process.exitCode = await doctorCommand({
    words,
    environment: process.env,
    output: process.stdout,
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`reactord: ${sentenceFor(error)}\n`);
  process.exit(error instanceof SettingError || error instanceof UsageError ? 2 : 1);
});
