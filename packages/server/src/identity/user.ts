import type { Selectable } from 'kysely';
import type { UsersTable } from '../store/schema.ts';
import { type OwnQuotas, readQuotas } from './quotas.ts';

/** The fields of a profile that the service only keeps and shows. */
export const detailNames = [
  'position',
  'institution',
  'fax',
  'researchArea',
  'department',
  'city',
  'state',
  'country',
  'gender',
] as const;

export type DetailName = (typeof detailNames)[number];
type ProfileDetails = Readonly<Partial<Record<DetailName, string>>>;

/** What a role lets its user do: `admin` manages users. */
export const roleNames = ['admin'] as const;
/** The areas that a user may be let into: `reactors` is everything under /actors/v2. */
export const grantNames = ['reactors'] as const;

export type UserStatus = 'active' | 'disabled';

export interface User {
  readonly id: string;
  readonly uid: number;
  readonly username: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly phone: string;
  readonly mobilePhone: string;
  readonly details: ProfileDetails;
  readonly status: UserStatus;
  readonly roles: ReadonlySet<string>;
  readonly grants: ReadonlySet<string>;
  /** Those that an admin has set for this user. */
  readonly quotas: OwnQuotas;
  readonly createdAt: number;
  readonly passwordHash: string;
  /** Grows with each change of the user. */
  readonly revision: number;
}

export const fullNameOf = (user: Pick<User, 'firstName' | 'lastName'>): string =>
  `${user.firstName} ${user.lastName}`.trim();

export function userFromRow(row: Selectable<UsersTable>): User {
  return {
    id: row.id,
    uid: row.uid,
    username: row.username,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    phone: row.phone,
    mobilePhone: row.mobile_phone,
    details: readDetails(row.details),
    status: row.status,
    roles: readNames(row.roles),
    grants: readNames(row.grants),
    quotas: readQuotas(row.quotas),
    createdAt: row.created_at,
    passwordHash: row.password_hash,
    revision: row.revision,
  };
}

function readDetails(json: string): ProfileDetails {
  const kept: unknown = JSON.parse(json);
  const entries: ReadonlyMap<string, unknown> = new Map(Object.entries(Object(kept)));
  const details: Partial<Record<DetailName, string>> = {};
  for (const name of detailNames) {
    const value = entries.get(name);
    if (typeof value === 'string') details[name] = value;
  }
  return details;
}

function readNames(json: string): ReadonlySet<string> {
  const names: unknown = JSON.parse(json);
  return new Set(Array.isArray(names) ? names.map(String) : []);
}

export const writeNames = (names: Iterable<string>): string =>
  JSON.stringify([...new Set(names)].sort());
