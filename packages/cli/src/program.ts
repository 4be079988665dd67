import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { defineAccount } from './program/account.ts';
import { defineAdministration } from './program/administration.ts';
import { defineMachine } from './program/machine.ts';
import { defineMessages } from './program/messages.ts';
import { defineReactors } from './program/reactors.ts';

/** All commands, with what they take. What they do is loaded when they are called. */
export function buildProgram(): Command {
  const program = new Command('reactord')
    .description('Runs a container for each message: the command line of reactord.')
    .usage('COMMAND')
    .version(version(), '-V, --version')
    .option('--json', 'print JSON, and nothing beside it')
    .option('--server <address>', 'which service (also REACTORD_SERVER)')
    .option('--profile <name>', 'which login (also REACTORD_PROFILE)')
    .addHelpText('after', '\nA command says more with --help. Exit codes and all else: docs/reference/command-line.md')
    .configureHelp({ showGlobalOptions: true })
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

/** Commands below a command do not inherit what is said of it after they were made. */
function configure(command: Command): void {
  for (const below of command.commands) {
    below.copyInheritedSettings(command).helpCommand(false).configureHelp({ showGlobalOptions: true });
    configure(below);
  }
}

function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}
