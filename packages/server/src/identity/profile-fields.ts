import { type Static, Type } from 'typebox';
import { fail } from '../errors.ts';
import { compactTime, shownStatus } from './profile-record.ts';
import { emailRule, fieldRule, mostCharacters, type ProfileFields } from './profile-rules.ts';
import { changeQuotas, GivenQuotas, sameQuotas } from './quotas.ts';
import {
  type DetailName,
  detailNames,
  fullNameOf,
  grantNames,
  roleNames,
  type User,
  type UserStatus,
} from './user.ts';
import { passwordRule, usernameRule } from './user-rules.ts';
import type { UserChange } from './users.ts';

/** The bodies of the profile operations, and how they are read. */

const Text = Type.Union([Type.String({ maxLength: mostCharacters }), Type.Null()], {
  allows: fieldRule,
});
const Names = (of: readonly string[], description: string) =>
  Type.Optional(
    Type.Array(Type.String(), {
      allows: `a list of: ${of.join(', ')}`,
      maxItems: 100,
      description,
    }),
  );

/** Records show some names in two spellings; a record that is sent back has both. */
const profile = {
  email: Type.Optional(
    Type.Union([Type.String({ maxLength: mostCharacters }), Type.Null()], { allows: emailRule }),
  ),
  first_name: Type.Optional(Text),
  firstName: Type.Optional(Text),
  last_name: Type.Optional(Text),
  lastName: Type.Optional(Text),
  phone: Type.Optional(Text),
  mobile_phone: Type.Optional(Text),
  position: Type.Optional(Text),
  institution: Type.Optional(Text),
  fax: Type.Optional(Text),
  researchArea: Type.Optional(Text),
  department: Type.Optional(Text),
  city: Type.Optional(Text),
  state: Type.Optional(Text),
  country: Type.Optional(Text),
  gender: Type.Optional(Text),
};

const rights = {
  roles: Names(roleNames, 'admin: manages users.'),
  grants: Names(grantNames, 'reactors: may use the reactors area.'),
};

const Password = Type.String({ allows: passwordRule, description: `Takes ${passwordRule}.` });

export const NewProfile = Type.Object(
  {
    username: Type.String({ allows: usernameRule, description: `Takes ${usernameRule}.` }),
    password: Password,
    ...profile,
    ...rights,
  },
  {
    title: 'NewProfile',
    additionalProperties: false,
    examples: [
      {
        username: 'ada',
        password: 'a password of eight or more',
        email: 'ada@example.org',
        first_name: 'Ada',
        last_name: 'Lovelace',
        grants: ['reactors'],
      },
    ],
  },
);

export const ChangedProfile = Type.Object(
  {
    ...profile,
    ...rights,
    status: Type.Optional(
      Type.String({
        allows: 'Active or Inactive',
        description: 'Inactive ends every session and token of the user at once. For admins.',
      }),
    ),
    quotas: Type.Optional(GivenQuotas),
    password: Type.Optional(Password),
    current_password: Type.Optional(
      Type.String({ description: 'Needed to change your own password.' }),
    ),
    username: Type.Optional(Type.String({ description: 'Cannot be changed.' })),
    uid: Type.Optional(Type.Integer({ description: 'Cannot be changed.' })),
    create_time: Type.Optional(Type.String({ description: 'Cannot be changed.' })),
    full_name: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Made of the first and the last name; change those.',
      }),
    ),
    _links: Type.Optional(Type.Unknown({ description: 'Has no effect.' })),
  },
  {
    title: 'ChangedProfile',
    additionalProperties: false,
    examples: [{ phone: '+44 20 7946 0000', city: 'London' }],
  },
);

type Given = Static<typeof ChangedProfile>;

/** The fields of the profile that were given. `current` is what a second spelling is compared with. */
export function readProfile(given: Given, current?: User): ProfileFields {
  const details: Partial<Record<DetailName, string | null>> = {};
  for (const name of detailNames) {
    const value = given[name];
    // An empty field of a form means that there is nothing to say.
    if (value !== undefined) details[name] = value === '' ? null : value;
  }
  return {
    email: given.email,
    firstName: oneOf('first_name', given.first_name, given.firstName, current?.firstName),
    lastName: oneOf('last_name', given.last_name, given.lastName, current?.lastName),
    phone: given.phone,
    mobilePhone: given.mobile_phone,
    details,
  };
}

/** What is to be changed of this user. Fields that cannot be changed may be sent back as they were shown. */
export function readChange(given: Given, current: User): UserChange {
  const status = given.status === undefined ? undefined : readStatus(given.status);
  const change = {
    ...readProfile(given, current),
    status: status === current.status ? undefined : status,
    roles: changedNames(given.roles, current.roles),
    grants: changedNames(given.grants, current.grants),
    quotas: changedQuotas(given.quotas, current),
    password: given.password,
  };
  refuse('username', given.username, current.username);
  refuse('uid', given.uid, current.uid);
  refuse('create_time', given.create_time, compactTime(current.createdAt));
  const named = change.firstName !== undefined || change.lastName !== undefined;
  if (!named && (given.full_name ?? '') !== '' && given.full_name !== fullNameOf(current)) {
    throw fail('invalid_field', {
      field: 'full_name',
      problem: 'is made of first_name and last_name; send those',
    });
  }
  return change;
}

export function readStatus(given: string): UserStatus {
  switch (given.toLowerCase()) {
    case 'active':
      return 'active';
    case 'inactive':
    case 'disabled':
      return 'disabled';
    default:
      throw fail('invalid_field', { field: 'status', problem: 'takes Active or Inactive' });
  }
}

/** Which right only an admin may change, and is about to be changed. */
export function changedRight(change: UserChange, current: User): string | undefined {
  if (change.status !== undefined) return `status from ${shownStatus(current)}`;
  if (change.roles !== undefined) return 'roles';
  if (change.grants !== undefined) return 'grants';
  return change.quotas === undefined ? undefined : 'quotas';
}

/** Of two spellings the one that says something new; undefined when neither was given. */
function oneOf(
  field: string,
  first: string | null | undefined,
  second: string | null | undefined,
  current: string | undefined,
): string | null | undefined {
  if (first === undefined || first === second) return second;
  if (second === undefined || second === current) return first;
  if (first === current) return second;
  throw fail('invalid_field', { field, problem: 'is given in two spellings that differ' });
}

function changedNames(
  given: readonly string[] | undefined,
  current: ReadonlySet<string>,
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  // A form says "none" with one empty value.
  const names = new Set(given.filter((name) => name !== ''));
  const same = names.size === current.size && [...names].every((name) => current.has(name));
  return same ? undefined : [...names];
}

function changedQuotas(given: Given['quotas'], current: User): UserChange['quotas'] {
  if (given === undefined) return undefined;
  const changed = changeQuotas(current.quotas, given);
  return sameQuotas(changed, current.quotas) ? undefined : changed;
}

function refuse<Value>(field: string, given: Value | undefined, current: Value): void {
  if (given === undefined || given === current) return;
  throw fail('invalid_field', { field, problem: 'cannot be changed' });
}
