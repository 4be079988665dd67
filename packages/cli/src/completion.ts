import type { Command } from 'commander';
import { Context } from './context.ts';

interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** The words that could stand where the last of the given ones is being typed, a line each: word, tab, what it is. */
export async function complete(program: Command, words: readonly string[]): Promise<string> {
  const typed = words.at(-1) ?? '';
  const place = placeOf(program, words.slice(0, -1));
  const candidates = await candidatesAt(place, typed);
  return candidates
    .filter(({ word }) => word.startsWith(typed))
    .map(({ word, about }) => `${word}\t${about}\n`)
    .join('');
}

/** Where the cursor is: in which command, behind how many operands, or behind an option that takes a value. */
interface Place {
  readonly command: Command;
  readonly operands: number;
  readonly valueOf: string | undefined;
}

function placeOf(program: Command, before: readonly string[]): Place {
  let command = program;
  let operands = 0;
  let option: string | undefined;
  for (const word of before) {
    const below = command.commands.find((each) => each.name() === word);
    if (option !== undefined) option = undefined;
    else if (word.startsWith('-')) option = takesValue(command, word) ? word : undefined;
    else if (operands === 0 && below !== undefined) command = below;
    else operands += 1;
  }
  return { command, operands, valueOf: option };
}

const reactorOptions = new Set(['--reactor', '--link', '--for']);

async function candidatesAt(
  { command, operands, valueOf: option }: Place,
  typed: string,
): Promise<readonly Candidate[]> {
  if (option !== undefined) return reactorOptions.has(option) ? await reactorNames() : [];
  if (typed.startsWith('-')) return optionsOf(command);
  const below = operands === 0 ? command.commands : [];
  const names = below.map((each) => ({ word: each.name(), about: each.summary() }));
  const wanted = argumentAt(command, operands);
  if (wanted === 'shell')
    return ['bash', 'zsh', 'fish'].map((word) => ({ word, about: 'completion' }));
  return wanted === 'reactor' ? [...names, ...(await reactorNames())] : names;
}

/** The name of the operand that comes next; that of the command which is meant when none is named. */
function argumentAt(command: Command, operands: number): string | undefined {
  const usual = command.commands.find((each) => ['list', 'get', 'show'].includes(each.name()));
  const wanted = (usual ?? command).registeredArguments;
  const last = wanted.at(-1);
  return (wanted[operands] ?? (last?.variadic ? last : undefined))?.name();
}

function optionsOf(command: Command): readonly Candidate[] {
  const own = command.options.map(({ long, short, description }) => ({
    word: long ?? short ?? '',
    about: description,
  }));
  if (command.parent !== null) return [...own, ...optionsOf(command.parent)];
  return [...own, { word: '--help', about: 'say more' }];
}

function takesValue(command: Command, word: string): boolean {
  if (word.includes('=')) return false;
  const found = command.options.find(({ long, short }) => long === word || short === word);
  if (found !== undefined) return found.required;
  return command.parent !== null && takesValue(command.parent, word);
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
