import { exitCodes } from '../packages/cli/src/exit-codes.ts';
import { buildProgram } from '../packages/cli/src/program.ts';
import { code, table } from './markdown.ts';

type Command = ReturnType<typeof buildProgram>;

/** docs/reference/command-line.md, from the commands as they are defined. */
export function commandLinePage(): string {
  const program = buildProgram();
  const codes = Object.values(exitCodes).map(({ code: number, when }) => [String(number), when]);
  return `# The command line

<!-- Generated from packages/cli/src/program.ts by \`npm run docs\`. Change it there. -->

\`npx reactord\` in a clone, or \`node_modules/.bin/reactord\` in your \`PATH\` as \`reactord\`. It speaks with any service over
its API; \`serve\`, \`worker\`, \`doctor\` and \`users --local\` also use the service that is installed beside it.

<!-- test: a person opens the address and approves -->
\`\`\`sh
npm run --silent samples -- hello                       # a sample image, built on this machine
npx reactord login http://127.0.0.1:8080                # shows an address and a code; confirm it in any browser
npx reactord reactors create reactord/hello --name hi   # waits for the image
npx reactord send hi --follow some words                # runs a container, and shows what it writes
\`\`\`

## For every command

${optionTable(program)}

- **Where and who**: \`--server\` or \`--profile\`, or else \`REACTORD_SERVER\` or \`REACTORD_PROFILE\`, or else the login made last
  (\`reactord profiles\`). \`REACTORD_TOKEN\` is an access token to use instead of a login, for machines.
- **Logins** are in \`$XDG_CONFIG_HOME/reactord\` or \`~/.config/reactord\`, readable by their user alone, and renewed by
  themselves. \`logout\` ends them at the service too.
- **Output**: results go to standard output, everything else to standard error. On a terminal there are tables and colours
  (not with \`NO_COLOR\`); in a pipe, lines with tabs, without titles; with \`--json\` one JSON document, or one a line where
  things come one after the other (\`logs -f\`, \`send --follow\`, \`events\`, \`results\`).
- **Reactors** are named by id, by alias or, where only one of yours has it, by name.
- **Durations** are seconds, or a number with \`s\`, \`m\`, \`h\` or \`d\` behind it.
- **Completion**: \`eval "$(reactord completion bash)"\`, the same with \`zsh\`, or \`reactord completion fish | source\`.

## Exit codes

${table(['code', 'when'], codes)}

\`send --wait\`, \`send --follow\` and \`logs -f\` end with 8 or 9 when the execution did not end well; the container's own exit code is
in the sentence, and in \`exitCode\` with \`--json\`.

## Commands
${program.commands.flatMap((command) => sectionsOf(command, 'reactord')).join('')}`;
}

/** A command that has commands below it is described by them. */
function sectionsOf(command: Command, above: string): readonly string[] {
  const path = `${above} ${command.name()}`;
  if (command.commands.length === 0) return [section(command, path)];
  const own = `\n### ${code(path)}\n\n${sentenceOf(command)}\n`;
  return [own, ...command.commands.flatMap((below) => sectionsOf(below, path))];
}

function section(command: Command, path: string): string {
  const operands = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '');
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const explained = command.registeredArguments.filter(({ description }) => description !== '');
  const rows = [
    ...explained.map((argument) => [code(argument.name()), argument.description]),
    ...optionRows(command),
  ];
  const heading = `\n### ${code([path, ...operands].join(' '))}\n\n${sentenceOf(command)}\n`;
  return rows.length === 0 ? heading : `${heading}\n${table(['', ''], rows)}\n`;
}

function sentenceOf(command: Command): string {
  const described = command.description();
  if (described !== '' && command.commands.length === 0) return described;
  const summary = command.summary();
  const first = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return [first, described].filter((text) => text !== '').join(' ');
}

const optionTable = (command: Command): string => table(['', ''], optionRows(command));

const optionRows = (command: Command): readonly (readonly string[])[] =>
  command.options.map(({ flags, description }) => [code(flags), description]);
