import type { Command } from 'commander';
import { does } from '../run.ts';
import { collect, seconds } from './values.ts';

export function defineAdministration(program: Command): void {
  defineConfigs(program);
  defineClients(program);
  defineUsers(program);
}

function defineConfigs(program: Command): void {
  const configs = program
    .command('configs')
    .summary('values and secrets for containers')
    .description(
      'Each is a variable in the containers of the reactors that it names. Without a command: list.',
    );
  does(
    configs.command('list', { isDefault: true }).summary('show them all'),
    async () => (await import('../actions/configs.ts')).list,
  );
  does(
    configs.command('show').summary('one; a secret is never shown').argument('<name>'),
    async () => (await import('../actions/configs.ts')).show,
  );
  does(
    configs
      .command('set')
      .summary('make it, or change it')
      .argument('<name>')
      .argument('[value]', 'text; - or nothing reads standard input, as is right for a secret')
      .option('--secret', 'encrypted, never shown again, and taken out of logs')
      .option('--for <reactor>', 'for this reactor; may be repeated', collect),
    async () => (await import('../actions/configs.ts')).set,
  );
  does(
    configs.command('rm').summary('delete it').argument('<name>'),
    async () => (await import('../actions/configs.ts')).remove,
  );
}

function defineClients(program: Command): void {
  const clients = program
    .command('clients')
    .summary('applications of yours that use OAuth')
    .description('Without a command: list.');
  does(
    clients.command('list', { isDefault: true }).summary('show them all'),
    async () => (await import('../actions/clients.ts')).list,
  );
  does(
    clients
      .command('create')
      .summary('register one, and print its key and its secret, once')
      .argument('<name>')
      .option('--description <text>')
      .option('--callback <address>', 'where people are sent back to; may be repeated', collect)
      .option('--tier <tier>', 'Unlimited, Gold, Silver or Bronze')
      .option('--flow <flow>', 'which flows it may use; may be repeated', collect),
    async () => (await import('../actions/clients.ts')).create,
  );
  does(
    clients.command('show').summary('one of them').argument('<name>'),
    async () => (await import('../actions/clients.ts')).show,
  );
  does(
    clients
      .command('rotate')
      .summary('give it a new secret, and print it, once')
      .argument('<name>')
      .option('--overlap <duration>', 'how long the old one still counts', seconds),
    async () => (await import('../actions/clients.ts')).rotate,
  );
  does(
    clients
      .command('subscriptions')
      .summary('show or change which APIs it may call')
      .argument('<name>')
      .option('--add <api>', 'an API, or * for all; may be repeated', collect)
      .option('--rm <api>', 'an API, or * for all; may be repeated', collect),
    async () => (await import('../actions/clients.ts')).subscriptions,
  );
  does(
    clients.command('rm').summary('delete it, and end all its tokens').argument('<name>'),
    async () => (await import('../actions/clients.ts')).remove,
  );
}

function defineUsers(program: Command): void {
  const users = program
    .command('users')
    .summary('users of the service; for admins')
    .description(
      'Over the API, as an admin. With --local first, on this machine and in the store itself, as its operator: reactord users --local --help.',
    );
  does(
    users
      .command('list', { isDefault: true })
      .summary('show them all')
      .option('--search <text>', 'whose name has this in it'),
    async () => (await import('../actions/users.ts')).list,
  );
  does(
    users.command('show').summary('everything about one').argument('<username>'),
    async () => (await import('../actions/users.ts')).show,
  );
  does(
    users
      .command('add')
      .summary('make one; the password is asked for')
      .argument('<username>')
      .option('--email <address>')
      .option('--first-name <name>')
      .option('--last-name <name>')
      .option('--grant <grant>', 'let it use an area: reactors; may be repeated', collect)
      .option('--role <role>', 'give it a role: admin; may be repeated', collect)
      .option('--generate', 'make a password and print it, once')
      .option('--password-stdin', 'read the password from standard input'),
    async () => (await import('../actions/users.ts')).add,
  );
  does(
    users
      .command('passwd')
      .summary('set a new password, which is asked for')
      .argument('<username>')
      .option('--generate', 'make one and print it, once')
      .option('--password-stdin', 'read it from standard input'),
    async () => (await import('../actions/users.ts')).password,
  );
  for (const [word, summary] of [
    ['grant', 'let it use an area: reactors'],
    ['revoke-grant', 'take that back'],
    ['role', 'give it a role: admin'],
    ['revoke-role', 'take that back'],
  ] as const)
    does(users.command(word).summary(summary).argument('<username>').argument('<name>'), async () =>
      (await import('../actions/users.ts')).given(word),
    );
  for (const [word, summary] of [
    ['disable', 'keep it out; ends its sessions and tokens at once'],
    ['enable', 'let it in again'],
  ] as const)
    does(users.command(word).summary(summary).argument('<username>'), async () =>
      (await import('../actions/users.ts')).turn(word === 'enable'),
    );
  does(
    users.command('rm').summary('remove it with everything it owns').argument('<username>'),
    async () => (await import('../actions/users.ts')).remove,
  );
}
