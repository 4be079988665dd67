import { fail } from '../errors.ts';
import { type DetailName, detailNames } from './user.ts';

/** The fields of a profile that its owner may set. Null or an empty text clears one; undefined leaves it. */
export interface ProfileFields {
  readonly email?: string | null | undefined;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly mobilePhone?: string | null | undefined;
  readonly details?: Readonly<Partial<Record<DetailName, string | null>>> | undefined;
}

interface CheckedProfile {
  readonly email: string | undefined;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  readonly phone: string | undefined;
  readonly mobilePhone: string | undefined;
  readonly details: Readonly<Partial<Record<DetailName, string | null>>> | undefined;
}

export const mostCharacters = 256;
export const fieldRule = `text of at most ${mostCharacters} characters without control characters`;
export const emailRule = 'an email address such as ada@example.org, or nothing';

/** Refuses what cannot be kept or shown, by the field's name. */
export function checkProfile(given: ProfileFields): CheckedProfile {
  const details: Partial<Record<DetailName, string | null>> = {};
  for (const name of detailNames) {
    const value = given.details?.[name];
    if (value !== undefined) details[name] = value === null ? null : checkText(name, value);
  }
  const email = textOf('email', given.email);
  if (email !== undefined && email !== '' && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw fail('invalid_field', { field: 'email', problem: `takes ${emailRule}` });
  }
  return {
    email,
    firstName: textOf('first_name', given.firstName),
    lastName: textOf('last_name', given.lastName),
    phone: textOf('phone', given.phone),
    mobilePhone: textOf('mobile_phone', given.mobilePhone),
    details: given.details === undefined ? undefined : details,
  };
}

function textOf(field: string, value: string | null | undefined): string | undefined {
  if (value === undefined) return undefined;
  return value === null ? '' : checkText(field, value);
}

function checkText(field: string, value: string): string {
  const text = value.trim();
  if (text.length <= mostCharacters && text.isWellFormed() && !/\p{Cc}/u.test(text)) return text;
  throw fail('invalid_field', { field, problem: `takes ${fieldRule}` });
}
