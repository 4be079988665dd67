import type { Static } from 'typebox';
import { type Caller, callerOf, isAdmin } from '../contract/caller.ts';
import { fail } from '../errors.ts';
import type { Credentials } from './credentials.ts';
import { type ChangedProfile, changedRight, readChange } from './profile-fields.ts';
import { type OwnProfile, profileRecord } from './profile-record.ts';
import type { User } from './user.ts';
import { isUsername } from './user-rules.ts';
import type { UserChange, Users } from './users.ts';

/** The steps that the profile operations are made of. */

export interface ProfileRoutesParts {
  readonly users: Users;
  readonly credentials: Credentials;
  readonly baseUrl: () => string;
}

/** What the steps need of a request. */
interface Asked {
  readonly caller: Caller | null;
  readonly ip: string;
  readonly query: unknown;
  readonly log: { info(facts: object, message: string): void };
}

/** One's own profile, or as an admin anyone's. */
export async function changeUser(
  { users, credentials, baseUrl }: ProfileRoutesParts,
  request: Asked,
  username: string,
  body: Static<typeof ChangedProfile>,
): Promise<Static<typeof OwnProfile>> {
  const caller = callerOf(request);
  const own = username === caller.username;
  if (!own) requireAdmin(caller);
  refuseExecution(caller);
  const target = await named(users, username);
  if (own && body.password !== undefined)
    await confirmPassword(credentials, target, body.current_password, request.ip);
  const readFor = (current: User): UserChange => {
    const change = readChange(body, current);
    const right = changedRight(change, current);
    if (right !== undefined && !isAdmin(caller))
      throw fail('not_allowed', { problem: `Only an admin may change ${right}.` });
    return change;
  };
  const changed = await users.change(target.id, readFor);
  if (changed === undefined) throw unknownUser(username);
  request.log.info(
    { event: 'user_changed', user: changed.id, by: caller.userId, fields: Object.keys(body) },
    'user changed',
  );
  return profileRecord(changed, queryOf(request), baseUrl());
}

/** Whoever found a token must not be able to lock its user out for good. */
async function confirmPassword(
  credentials: Credentials,
  user: User,
  current: string | undefined,
  address: string,
): Promise<void> {
  const problem = 'takes your current password, which is needed to change it';
  if (current === undefined) throw fail('invalid_field', { field: 'current_password', problem });
  const checked = await credentials.check(user.username, current, address);
  if (checked?.id !== user.id)
    throw fail('invalid_field', { field: 'current_password', problem: 'is not your password' });
}

export async function named(users: Users, username: string): Promise<User> {
  const user = isUsername(username) ? await users.byUsername(username) : undefined;
  if (user === undefined) throw unknownUser(username);
  return user;
}

export function requireAdmin(caller: Caller): void {
  refuseExecution(caller);
  if (!isAdmin(caller))
    throw fail('not_allowed', { problem: 'Only an admin may manage the accounts of other users.' });
}

/** A container acts for whoever sent it a message; it must not be able to make itself an account. */
function refuseExecution({ by }: Caller): void {
  if (by.kind === 'token' && by.flow === 'execution')
    throw fail('not_allowed', { problem: "An execution's token cannot change accounts." });
}

export const unknownUser = (name: string) => fail('unknown_resource', { kind: 'user', name });

export const queryOf = (request: { readonly query: unknown }): object =>
  typeof request.query === 'object' && request.query !== null ? request.query : {};
