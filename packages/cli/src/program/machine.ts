import type { Command } from 'commander';
import { does } from '../run.ts';

export function defineMachine(program: Command): void {
  for (const [word, summary, description] of [
    [
      'serve',
      'run the service on this machine',
      'Takes the settings of the service as flags, such as --port 9000; they also come from REACTORD_* and reactord.conf (docs/reference/settings.md). npm start does the same, and first installs what is missing.',
    ],
    [
      'worker',
      'run executions for a service elsewhere',
      'One more machine with an engine, on the same PostgreSQL as the service: needs --database and --base-url, and takes the settings of the service as flags.',
    ],
    [
      'backup',
      'copy what the service keeps, while it runs',
      'Writes the store, the logs and the key of the secrets into a new folder: reactord backup FOLDER. Takes --data, --database and --config as serve does. docs/guides/backup-and-restore.md has the whole story.',
    ],
  ] as const)
    does(
      program
        .command(word)
        .summary(summary)
        .description(description)
        .argument('[settings...]')
        .allowUnknownOption(),
      async () => (await import('../actions/local-server.ts')).run(word),
    );
  does(
    program
      .command('doctor')
      .summary('find out what is wrong, and what to do')
      .description(
        'Looks at the engine, the store, the port, the disks and the clock of this machine, where the service is installed, and at the service that you use. Exits with 1 when something is wrong.',
      )
      .argument('[settings...]', 'settings of the service as flags, as serve takes them')
      .option('--remote', 'only the service that you use')
      .option('--local', 'only this machine')
      .allowUnknownOption(),
    async () => (await import('../actions/doctor.ts')).doctor,
  );
  does(
    program
      .command('completion')
      .summary('completion for your shell')
      .description(
        'Prints a script: eval "$(reactord completion bash)" in ~/.bashrc, the same with zsh in ~/.zshrc, or reactord completion fish | source in config.fish.',
      )
      .argument('<shell>', 'bash, zsh or fish'),
    async () => (await import('../actions/completion.ts')).completion,
  );
}
