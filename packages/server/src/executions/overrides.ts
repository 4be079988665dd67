import { fail } from '../errors.ts';

/** Parameters of the operation itself and of the way to it: they are never variables. */
const ownParameters = new Set(['message', 'naked', 'pretty', 'limit', 'offset', 'x-nonce']);

/** Names that operations to come will take: a variable of that name would change its meaning then. */
const keptForLater = new Set(['wait', 'delay']);

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** One string of the environment, name and value together, is at most 128 KiB on Linux. */
const mostBytes = 128 * 1024 - 1;

/**
 * What the query of a message sets in the environment of its execution. Names of default_environment replace its
 * values, other names are added; what the platform itself sets, and what would turn the container's programs into
 * others, cannot be set.
 */
export function readOverrides(
  query: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, string>>,
  secondPrefix: string | undefined,
): Readonly<Record<string, string>> {
  const overrides: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (ownParameters.has(name.toLowerCase())) continue;
    if (isReserved(name, secondPrefix)) {
      throw invalid(
        name,
        'is reserved: a message cannot set it in the environment of its execution',
      );
    }
    if (!variableName.test(name) && !Object.hasOwn(defaults, name)) {
      throw invalid(
        shown(name),
        'is no name of an environment variable: it takes letters, digits and underscores, and no digit first',
      );
    }
    overrides[name] = readValue(name, value);
  }
  return overrides;
}

function readValue(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(name, 'is given more than once');
  if (value.includes('\0')) throw invalid(name, 'has a NUL character, which no variable can hold');
  if (!value.isWellFormed()) throw invalid(name, 'is not valid UTF-8');
  if (Buffer.byteLength(name) + 1 + Buffer.byteLength(value) > mostBytes)
    throw invalid(name, 'is longer than the 128 KiB that a variable can hold');
  return value;
}

/** Whether a message may never set this variable. */
export function isReserved(name: string, secondPrefix: string | undefined): boolean {
  return (
    name === 'MSG' ||
    name === 'PATH' ||
    name.startsWith('LD_') ||
    name.toLowerCase().startsWith('_svc_') ||
    (secondPrefix !== undefined && name.toLowerCase().startsWith(secondPrefix.toLowerCase())) ||
    keptForLater.has(name)
  );
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 60));

const invalid = (field: string, problem: string) => fail('invalid_field', { field, problem });
