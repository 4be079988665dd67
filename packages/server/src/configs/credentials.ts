import type { RegistryCredentials } from '../engines/engine.ts';

/** Reads `username:password`, or JSON with these two; undefined when it is neither. */
export function readCredentials(secret: string): RegistryCredentials | undefined {
  const text = secret.trim();
  if (text.startsWith('{')) return fromJson(text);
  const at = text.indexOf(':');
  return at < 1 || at === text.length - 1
    ? undefined
    : { username: text.slice(0, at), password: text.slice(at + 1) };
}

function fromJson(text: string): RegistryCredentials | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== 'object' || given === null) return undefined;
  const { username, password } = { username: undefined, password: undefined, ...given };
  return typeof username === 'string' && typeof password === 'string'
    ? { username, password }
    : undefined;
}
