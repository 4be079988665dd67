import { Command, Help } from 'commander';
import { defineAccount } from './program/account.ts';
import { defineAdministration } from './program/administration.ts';
import { defineMachine } from './program/machine.ts';
import { defineMessages } from './program/messages.ts';
import { defineReactors } from './program/reactors.ts';
import { version } from './version.ts';

/** All commands, with what they take. What they do is loaded when they are called. */
export function buildProgram(): Command {
  const program = new Command('reactord')
    .description('Runs a container for each message: the command line of reactord.')
    .usage('COMMAND')
    .version(version(), '-V, --version', 'print the version')
    .option('--json', 'print JSON, and nothing beside it')
    .option('--server <address>', 'which service (also REACTORD_SERVER)')
    .option('--profile <name>', 'which login (also REACTORD_PROFILE)')
    .addHelpText(
      'after',
      '\nA command says more with --help. Exit codes and all else: docs/reference/command-line.md',
    )
    .showSuggestionAfterError()
    .helpCommand(false)
    .exitOverride();
  program.commandsGroup('Account:');
  defineAccount(program);
  program.commandsGroup('Reactors:');
  defineReactors(program);
  defineMessages(program);
  program.commandsGroup('Administration:');
  defineAdministration(program);
  program.commandsGroup('This machine:');
  defineMachine(program);
  configure(program);
  return program;
}

const withGlobals = Object.assign(new Help(), { showGlobalOptions: true });

/** Commands below a command do not inherit what is said of it after they were made. */
function configure(command: Command, path = 'reactord'): void {
  command
    .helpCommand(false)
    .helpOption('-h, --help', 'say more')
    .exitOverride()
    .showHelpAfterError(`  See: ${path} --help`)
    .configureOutput({ outputError: (text, write) => write(sentenceOf(text)) })
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (shown) =>
        withGlobals.visibleGlobalOptions(shown).filter(({ long }) => long !== '--version'),
    });
  for (const below of command.commands) configure(below, `${path} ${below.name()}`);
}

/** In the voice of the other errors: `reactord: the sentence.` */
function sentenceOf(text: string): string {
  const plain = text
    .replace(/^error: /, '')
    .replace(
      /^too many arguments for .*?\. Expected 0 arguments but got \d+: (\S+?)(,.*)?\.$/m,
      "unknown command '$1'",
    );
  return `reactord: ${plain.charAt(0).toUpperCase()}${plain.slice(1)}`;
}
