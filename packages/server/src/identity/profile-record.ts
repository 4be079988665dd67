import { type Static, Type } from 'typebox';
import { ShownQuotas, shownQuotas } from './quotas.ts';
import { fullNameOf, grantNames, roleNames, type User } from './user.ts';

/** Profiles as they are shown. */

const Link = Type.Object({ href: Type.String() }, { title: 'Link' });
const Links = Type.Object({ self: Link, users: Link });
const Names = (of: readonly string[]) => Type.Array(Type.String({ enum: [...of] }));

const compactProperties = {
  create_time: Type.String({ description: 'UTC, as in 20140905072223Z.' }),
  email: Type.String(),
  first_name: Type.String(),
  full_name: Type.String({ description: 'First and last name together.' }),
  last_name: Type.String(),
  mobile_phone: Type.String(),
  phone: Type.String(),
  status: Type.String({ enum: ['Active', 'Inactive'] }),
  uid: Type.Integer({ description: 'From 1001, in the order in which users were made.' }),
  username: Type.String(),
};

const examples = {
  create_time: '20140905072223Z',
  email: 'ada@example.org',
  first_name: 'Ada',
  full_name: 'Ada Lovelace',
  last_name: 'Lovelace',
  mobile_phone: '',
  phone: '+44 20 7946 0000',
  status: 'Active',
  uid: 1002,
  username: 'ada',
};

const CompactProfile = Type.Object(compactProperties, {
  title: 'CompactProfile',
  examples: [examples],
});

const Detail = Type.Union([Type.String(), Type.Null()]);

const FullProfile = Type.Object(
  {
    firstName: Type.String({ description: 'The same as first_name.' }),
    lastName: Type.String({ description: 'The same as last_name.' }),
    position: Detail,
    institution: Detail,
    fax: Detail,
    researchArea: Detail,
    department: Detail,
    city: Detail,
    state: Detail,
    country: Detail,
    gender: Detail,
    ...compactProperties,
    roles: Names(roleNames),
    grants: Names(grantNames),
    quotas: ShownQuotas,
    _links: Links,
  },
  { title: 'Profile' },
);

const PublicProfile = Type.Object(
  {
    username: Type.String(),
    first_name: Type.String(),
    firstName: Type.String(),
    last_name: Type.String(),
    lastName: Type.String(),
    full_name: Type.String(),
    _links: Links,
  },
  { title: 'PublicProfile', description: 'What other users see of a user.' },
);

export const OwnProfile = Type.Union([FullProfile, CompactProfile]);
export const ShownProfile = Type.Union([FullProfile, CompactProfile, PublicProfile]);

/** The profile itself, in the shape that the query asks for: `pretty` and `naked` together mean the compact one. */
export function profileRecord(
  user: User,
  query: object,
  baseUrl: string,
): Static<typeof OwnProfile> {
  const compact = compactRecord(user);
  if ('pretty' in query && 'naked' in query) return compact;
  const { details } = user;
  return {
    firstName: user.firstName,
    lastName: user.lastName,
    position: details.position ?? null,
    institution: details.institution ?? null,
    fax: details.fax ?? null,
    researchArea: details.researchArea ?? null,
    department: details.department ?? null,
    city: details.city ?? null,
    state: details.state ?? null,
    country: details.country ?? null,
    gender: details.gender ?? null,
    ...compact,
    roles: [...user.roles],
    grants: [...user.grants],
    quotas: shownQuotas(user.quotas),
    _links: linksOf(user, baseUrl),
  };
}

/** What others may know: enough to share something with the right person. */
export function publicRecord(user: User, baseUrl: string): Static<typeof PublicProfile> {
  return {
    username: user.username,
    first_name: user.firstName,
    firstName: user.firstName,
    last_name: user.lastName,
    lastName: user.lastName,
    full_name: fullNameOf(user),
    _links: linksOf(user, baseUrl),
  };
}

function compactRecord(user: User) {
  return {
    create_time: compactTime(user.createdAt),
    email: user.email,
    first_name: user.firstName,
    full_name: fullNameOf(user),
    last_name: user.lastName,
    mobile_phone: user.mobilePhone,
    phone: user.phone,
    status: shownStatus(user),
    uid: user.uid,
    username: user.username,
  };
}

export const shownStatus = (user: Pick<User, 'status'>): 'Active' | 'Inactive' =>
  user.status === 'active' ? 'Active' : 'Inactive';

export const compactTime = (ms: number): string =>
  new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');

const linksOf = (user: User, baseUrl: string) => ({
  self: { href: `${baseUrl}/profiles/v2/${user.username}` },
  users: { href: `${baseUrl}/profiles/v2` },
});
