import type { Command } from 'commander';
import { does } from '../run.ts';

export function defineAccount(program: Command): void {
  does(
    program
      .command('login')
      .summary('log in to a service')
      .description(
        'Logs in with a browser, on this machine or any other: shows an address and a code, and waits until you have confirmed it. The login is kept for this user alone and renewed by itself.',
      )
      .argument('[server]', 'the address of the service, such as https://reactors.example.org')
      .option(
        '--username <name>',
        'without a browser: with a name and a password, which is asked for',
      )
      .option('--password-stdin', 'with --username: read the password from standard input')
      .option('--token', 'with an access token that you have already, which is asked for')
      .option('--token-stdin', 'the same, from standard input')
      .option('--no-browser', 'do not open a browser, only show the address'),
    async () => (await import('../actions/login.ts')).login,
  );
  does(
    program
      .command('logout')
      .summary('end the login and forget it')
      .option('--all', 'at every service'),
    async () => (await import('../actions/login.ts')).logout,
  );
  does(
    program.command('whoami').summary('show who is logged in, and where'),
    async () => (await import('../actions/login.ts')).whoami,
  );
  const profiles = program
    .command('profiles')
    .summary('the services you are logged in to')
    .description(
      'Each login is a profile, named after its service unless you name it (login --profile). Commands use the current one.',
    );
  does(
    profiles.command('list', { isDefault: true }).summary('show them all'),
    async () => (await import('../actions/profiles.ts')).list,
  );
  does(
    profiles.command('use').summary('make one the current one').argument('<profile>'),
    async () => (await import('../actions/profiles.ts')).use,
  );
}
