import { fail } from '../errors.ts';
import { longestVariable, variableNameProblem } from '../reactors/variable-names.ts';
import { waitParameters } from './inbox-waiting.ts';

/** Parameters of the operation itself and of the way to it: they are never variables. */
const ownParameters = new Set([
  'message',
  'delay',
  'naked',
  'pretty',
  'limit',
  'offset',
  'x-nonce',
]);

/**
 * What the query of a message sets in the environment of its execution. Names of default_environment replace its
 * values, other names are added; what the platform itself sets, and what would turn the container's programs into
 * others, cannot be set.
 */
export function readOverrides(
  query: Readonly<Record<string, unknown>>,
  secondPrefix: string | undefined,
): Readonly<Record<string, string>> {
  const overrides: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (ownParameters.has(name.toLowerCase()) || waitParameters.has(name)) continue;
    const problem = nameProblem(name, secondPrefix);
    if (problem !== undefined) throw invalid(name.slice(0, 64).toWellFormed(), problem);
    overrides[name] = readValue(name, value);
  }
  return overrides;
}

function readValue(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(name, 'is given more than once');
  if (value.includes('\0')) throw invalid(name, 'has a NUL character, which no variable can hold');
  if (!value.isWellFormed()) throw invalid(name, 'is not valid UTF-8');
  if (Buffer.byteLength(name) + Buffer.byteLength(value) + 2 > longestVariable)
    throw invalid(name, 'is longer than the 128 KiB that a variable can hold');
  return value;
}

function nameProblem(name: string, secondPrefix: string | undefined): string | undefined {
  if (name === 'PATH')
    return 'is reserved: no sender chooses which programs a container runs; set it in default_environment';
  return variableNameProblem(name, secondPrefix);
}

const invalid = (field: string, problem: string) => fail('invalid_field', { field, problem });
