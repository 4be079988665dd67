import { fail, type ServiceError } from '../errors.ts';
import { longestVariable, variableNameProblem } from './variable-names.ts';

const field = 'default_environment';
const mostVariables = 1000;
/** Linux takes about 2 MiB in all; the message, the service's own variables and the image's need their room. */
const mostBytes = 512 * 1024;

/**
 * Reads what a registration gives as the environment of every execution: an object of text by name, or its JSON where
 * the body is a form. PATH may be set: the owner knows the image. (Messages cannot replace it.)
 */
export function readEnvironment(
  given: unknown,
  secondPrefix: string | undefined,
): Readonly<Record<string, string>> {
  const object = typeof given === 'string' ? parse(given) : given;
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw problem(undefined, 'takes an object of text by name, such as {"LEVEL": "3"}');
  const entries: [string, string][] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(object)) {
    const wrongName = variableNameProblem(name, secondPrefix);
    if (wrongName !== undefined) throw problem(name, wrongName);
    const text = readText(name, value);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text) + 2;
    entries.push([name, text]);
  }
  if (entries.length > mostVariables)
    throw problem(undefined, `takes at most ${mostVariables} variables`);
  if (bytes > mostBytes)
    throw problem(undefined, `takes at most ${mostBytes / 1024} KiB in all, names included`);
  return Object.fromEntries(entries);
}

function readText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw problem(name, 'takes text; put quotes around it');
  if (value.includes('\0') || !value.isWellFormed())
    throw problem(name, 'takes text without NUL characters and half characters');
  if (Buffer.byteLength(name) + Buffer.byteLength(value) + 2 > longestVariable)
    throw problem(name, 'is longer than the 128 KiB that an environment variable can hold');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problem(name: string | undefined, words: string): ServiceError {
  // A name that is not even one may be long, or unreadable.
  const shown = name === undefined ? field : `${field}.${name.slice(0, 64).toWellFormed()}`;
  return fail('invalid_field', { field: shown, problem: words });
}
