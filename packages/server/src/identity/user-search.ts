import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import type { Page } from '../contract/page.ts';
import type { Schema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { serviceUser } from './service-user.ts';
import { type User, type UserStatus, userFromRow } from './user.ts';

/** What a list of users is narrowed down to. Texts are found anywhere in the field, whatever the case of A to Z. */
export interface UserFilter {
  /** In the username or the full name. */
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly fullName?: string | undefined;
  readonly status?: UserStatus | undefined;
}

type Eb = ExpressionBuilder<Schema, 'users'>;

const fullName = sql<string>`first_name || ' ' || last_name`;

/** In the order in which the users were made. */
export async function searchUsers(
  store: Store,
  filter: UserFilter,
  page: Page & { readonly after: number },
): Promise<readonly User[]> {
  const rows = await store.read
    .selectFrom('users')
    .selectAll()
    .where('id', '!=', serviceUser.id)
    .where((eb) => eb.and([eb('uid', '>', page.after), ...conditions(eb, filter)]))
    .orderBy('uid')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map(userFromRow);
}

function conditions(eb: Eb, filter: UserFilter) {
  const { name, username, email, firstName, lastName, status } = filter;
  const wanted = [];
  if (name !== undefined)
    wanted.push(eb.or([contains(eb.ref('username'), name), contains(fullName, name)]));
  if (username !== undefined) wanted.push(contains(eb.ref('username'), username));
  if (email !== undefined) wanted.push(contains(eb.ref('email'), email));
  if (firstName !== undefined) wanted.push(contains(eb.ref('first_name'), firstName));
  if (lastName !== undefined) wanted.push(contains(eb.ref('last_name'), lastName));
  if (filter.fullName !== undefined) wanted.push(contains(fullName, filter.fullName));
  if (status !== undefined) wanted.push(eb('status', '=', status));
  return wanted;
}

function contains(field: Expression<string>, text: string) {
  // Only A to Z: both databases fold these alike, and other letters each in its own way.
  const folded = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const pattern = `%${folded.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
  return sql<boolean>`lower(${field}) like ${pattern} escape '\\'`;
}
