import type { Command } from 'commander';
import { does } from '../run.ts';
import { collect, pairs, seconds, wholeNumber } from './values.ts';

export function defineReactors(program: Command): void {
  const reactors = program
    .command('reactors')
    .summary('register, show, change, share and remove reactors')
    .description(
      'REACTOR is an id, an alias or, where only one of your reactors has it, a name. Without a command: list.',
    );
  does(
    reactors
      .command('list', { isDefault: true })
      .summary('your reactors, and those shared with you')
      .option('--all', 'of all users; for admins'),
    async () => (await import('../actions/reactors.ts')).list,
  );
  does(
    reactors.command('show').summary('everything about one').argument('<reactor>'),
    async () => (await import('../actions/reactors.ts')).show,
  );
  does(
    described(
      reactors
        .command('create')
        .summary('register a reactor, and wait for its image')
        .argument('<image>', 'the container image, such as registry.example.org/hello:1')
        .option('--name <name>', 'for people; need not be unique')
        .option('--alias <alias>', 'give it this alias at once'),
    ).option('--no-wait', 'do not wait until the image is there'),
    async () => (await import('../actions/register.ts')).create,
  );
  does(
    described(
      reactors
        .command('update')
        .summary('change what is named, and leave the rest')
        .description(
          'Reads the reactor, changes what is named and writes it back; messages that wait run with what is new.',
        )
        .argument('<reactor>')
        .option('--image <image>', 'another image; it is pulled'),
    )
      .option('--unset-env <name>', 'take a variable away; may be repeated', collect)
      .option('--unset <field>', 'take a field back to its default; may be repeated', collect)
      .option('--force', 'pull the image again, although its name is the same')
      .option('--no-wait', 'do not wait until the image is there'),
    async () => (await import('../actions/register.ts')).update,
  );
  does(
    reactors
      .command('rm')
      .summary('stop what runs, drop what waits, and delete')
      .argument('<reactor...>'),
    async () => (await import('../actions/reactors.ts')).remove,
  );
  does(
    reactors
      .command('share')
      .summary('show or change who may use it')
      .description(
        'Without a user: shows who may. NONE takes it back; the user WORLD is everyone. Each level includes those before it: READ, EXECUTE, UPDATE.',
      )
      .argument('<reactor>')
      .argument('[user]')
      .argument('[level]', 'NONE, READ, EXECUTE or UPDATE', 'EXECUTE'),
    async () => (await import('../actions/sharing.ts')).share,
  );
  defineNonces(reactors);
  defineAliases(reactors);
}

/** The fields that people set. The others, and those of later versions, are reached by --set. */
function described(command: Command): Command {
  return command
    .option('--description <text>')
    .option('-e, --env <name=value>', 'a variable of every execution; may be repeated', pairs)
    .option('--stateful', 'it remembers something, and runs one execution at a time')
    .option('--stateless', 'it does not; the default')
    .option('--max-workers <number>', 'how many executions run at once', wholeNumber(1))
    .option('--memory <size>', 'of a container, such as 512m')
    .option('--cpus <number>', 'of a container, such as 0.5', Number)
    .option('--timeout <duration>', 'how long an execution may run, such as 10m', seconds)
    .option('--retries <number>', 'how often a failed execution is tried again', wholeNumber(0))
    .option('--keep-logs <duration>', 'how long logs are kept', seconds)
    .option('--webhook <address>', 'where its events are posted')
    .option('--link <reactor>', 'which reactor gets its events as messages')
    .option('--schedule <expression>', 'when it runs by itself, such as "0 3 * * *"')
    .option('--hint <text>', 'a word for people and programs; may be repeated', collect)
    .option('--registry-credentials <secret>', 'the config with which a private image is pulled')
    .option('--set <field=value>', 'any field of the API, its value as JSON or text', pairs)
    .option('--from <file>', 'read fields from a JSON file first (- is standard input)');
}

function defineNonces(reactors: Command): void {
  const nonce = reactors
    .command('nonce')
    .summary('addresses that open one reactor without a login')
    .description(
      'For webhooks and the like: whoever has the address can use the reactor, at the level given.',
    );
  does(
    nonce
      .command('create')
      .summary('make one, and print its address')
      .argument('<reactor>')
      .option('--level <level>', 'READ, EXECUTE or UPDATE', 'EXECUTE')
      .option(
        '--uses <number>',
        'how often it can be used; without it, as often as you like',
        wholeNumber(1),
      )
      .option('--description <text>'),
    async () => (await import('../actions/sharing.ts')).createNonce,
  );
  does(
    nonce.command('list').summary('show them all').argument('<reactor>'),
    async () => (await import('../actions/sharing.ts')).listNonces,
  );
  does(
    nonce.command('rm').summary('take one back').argument('<reactor>').argument('<nonce>'),
    async () => (await import('../actions/sharing.ts')).removeNonce,
  );
}

function defineAliases(reactors: Command): void {
  const alias = reactors.command('alias').summary('other names for reactors');
  does(
    alias.command('list', { isDefault: true }).summary('show them all'),
    async () => (await import('../actions/sharing.ts')).listAliases,
  );
  does(
    alias
      .command('set')
      .summary('let an alias name this reactor, from now on')
      .argument('<alias>')
      .argument('<reactor>'),
    async () => (await import('../actions/sharing.ts')).setAlias,
  );
  does(
    alias.command('rm').summary('take one away').argument('<alias>'),
    async () => (await import('../actions/sharing.ts')).removeAlias,
  );
}
