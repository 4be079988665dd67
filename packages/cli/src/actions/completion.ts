import type { Command } from 'commander';
import { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { buildProgram } from '../program.ts';
import type { Operands } from '../run.ts';

/** Each asks `reactord complete`, which knows all commands as they are. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_reactord() {
  local IFS=$'\\n'
  COMPREPLY=($(reactord complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _reactord reactord
`,
  zsh: `#compdef reactord
_reactord() {
  local -a found
  local line
  while IFS=$'\\t' read -r line rest; do
    found+=("\${line//:/\\\\:}:\${rest}")
  done < <(reactord complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe reactord found; else _files; fi
}
compdef _reactord reactord
`,
  fish: `complete -c reactord -f -a '(reactord complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
complete -c reactord -l file -l batch -l from -rF
`,
};

export async function completion(context: Context, [shell = '']: Operands): Promise<void> {
  const script = scripts[shell];
  if (script === undefined)
    throw new CommandFailure('usage', `There is no completion for ${JSON.stringify(shell)}; there is one for bash, zsh and fish.`);
  context.output.raw(script);
}

interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** The words that could stand where the last of the given ones is being typed: word, tab, what it is. */
export async function complete(context: Context, operands: Operands): Promise<void> {
  const words = operands.filter((word) => word !== undefined);
  const typed = words.at(-1) ?? '';
  const candidates = await candidatesFor(words.slice(0, -1), typed);
  for (const { word, about } of candidates)
    if (word.startsWith(typed)) context.output.line(`${word}\t${about}`);
}

async function candidatesFor(before: readonly string[], typed: string): Promise<readonly Candidate[]> {
  let command: Command = buildProgram();
  let operands = 0;
  let valueOf = '';
  for (const word of before) {
    if (valueOf !== '') valueOf = '';
    else if (word.startsWith('-')) valueOf = takesValue(command, word) ? word : '';
    else {
      const below = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (below === undefined) operands += 1;
      else command = below;
    }
  }
  if (valueOf === '--reactor' || valueOf === '--link' || valueOf === '--for') return await reactorNames();
  if (valueOf !== '') return [];
  if (typed.startsWith('-')) return optionsOf(command);
  const below = operands === 0 ? command.commands.filter((each) => !hidden(each)) : [];
  const names = below.map((each) => ({ word: each.name(), about: each.summary() }));
  const target = command.commands.find((each) => each.name() === defaultOf(command)) ?? command;
  const wanted = target.registeredArguments[Math.min(operands, target.registeredArguments.length - 1)];
  const isReactor = wanted?.name() === 'reactor' && (operands === 0 || wanted.variadic || operands < target.registeredArguments.length);
  if (wanted?.name() === 'shell') return Object.keys(scripts).map((word) => ({ word, about: '' }));
  return isReactor ? [...names, ...(await reactorNames())] : names;
}

const hidden = (command: Command): boolean => command.name() === 'complete';

/** The command that is meant when none is named. */
const defaultOf = (command: Command): string =>
  ['list', 'get', 'show'].find((word) => command.commands[0]?.name() === word) ?? '';

function optionsOf(command: Command): readonly Candidate[] {
  const own = command.options.map(({ long, short, description }) => ({
    word: long ?? short ?? '',
    about: description,
  }));
  const above = command.parent === null ? [] : optionsOf(command.parent).filter(({ word }) => word !== '--version');
  return [...own, ...above, ...(command.parent === null ? [{ word: '--help', about: 'more about it' }] : [])];
}

function takesValue(command: Command, word: string): boolean {
  if (word.includes('=')) return false;
  const found = command.options.find(({ long, short }) => long === word || short === word);
  if (found !== undefined) return found.required;
  return command.parent === null ? false : takesValue(command.parent, word);
}

/** Aliases, and the names or ids of reactors. A service that does not answer at once completes nothing. */
async function reactorNames(): Promise<readonly Candidate[]> {
  try {
    const context = new Context({}, process.env);
    const client = await context.client();
    const options = { signal: AbortSignal.timeout(1_500), limit: 200 };
    const [aliases, reactors] = await Promise.all([
      client.aliases.list(options).page(),
      client.reactors.list(options).page(),
    ]);
    return [
      ...aliases.map(({ alias, actorId }) => ({ word: alias, about: `alias of ${actorId}` })),
      ...reactors.map(({ id, name, image }) => ({
        word: name !== null && /^[\w.-]+$/.test(name) ? name : id,
        about: image,
      })),
    ];
  } catch {
    return [];
  }
}
