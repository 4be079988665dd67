import { fail } from '../errors.ts';
import { grantNames, roleNames } from './user.ts';

export const usernameRule =
  '1 to 64 letters, digits, dots, underscores or hyphens, and not "me" or "WORLD"';
export const passwordRule = 'at least 8 characters, and at most 1024 bytes of UTF-8';

/**
 * `me` in a path means whoever asks, and `WORLD` among permissions everyone; in any case of letters, so that nobody is
 * fooled by `Me`.
 */
const taken: ReadonlySet<string> = new Set(['me', 'world', 'abaco_world']);

export const isUsername = (text: string): boolean =>
  /^[A-Za-z0-9._-]{1,64}$/.test(text) && !taken.has(text.toLowerCase());

const mostPasswordBytes = 1024;

/** Whether the text can be a password at all: more bytes are never hashed, and NUL would hide what follows it. */
export const canBePassword = (text: string): boolean =>
  text.length <= mostPasswordBytes &&
  Buffer.byteLength(text) <= mostPasswordBytes &&
  !text.includes('\0');

export function checkUsername(username: string): void {
  if (isUsername(username)) return;
  throw fail('invalid_field', { field: 'username', problem: `takes ${usernameRule}` });
}

/** The rule for a new password. Characters are what a person counts: code points. */
export function checkNewPassword(password: string): void {
  if (canBePassword(password) && password.isWellFormed() && [...password].length >= 8) return;
  throw fail('invalid_field', { field: 'password', problem: `takes ${passwordRule}` });
}

export const checkRoles = (given: Iterable<string>): readonly string[] =>
  checkNames('roles', given, roleNames);

export const checkGrants = (given: Iterable<string>): readonly string[] =>
  checkNames('grants', given, grantNames);

function checkNames(
  field: string,
  given: Iterable<string>,
  known: readonly string[],
): readonly string[] {
  const names = [...given];
  if (names.every((name) => known.includes(name))) return names;
  throw fail('invalid_field', { field, problem: `takes a list of: ${known.join(', ')}` });
}
