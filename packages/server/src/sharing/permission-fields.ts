import { type Static, Type } from 'typebox';
import { permissionLevels } from '../contract/permission-level.ts';
import { fail } from '../errors.ts';

/** What giving somebody a permission takes. */
export const GivenPermission = Type.Object(
  {
    user: Type.String({
      minLength: 1,
      maxLength: 64,
      allows: 'a username, or WORLD for everyone',
      description: 'A username; WORLD (also ABACO_WORLD) is everyone who may use the area.',
    }),
    level: Type.Enum(['NONE', ...permissionLevels], {
      type: 'string',
      description: 'READ < EXECUTE < UPDATE, each with those before it. NONE takes it away.',
    }),
  },
  {
    title: 'GivenPermission',
    additionalProperties: false,
    examples: [{ user: 'bob', level: 'EXECUTE' }],
  },
);

export type GivenPermission = Static<typeof GivenPermission>;

/** More than people oversee, and little enough to be remembered with what they belong to. */
const mostPermissions = 250;

export function refuseTooMany(count: number, isNew: boolean): void {
  if (isNew && count >= mostPermissions)
    throw fail('conflict', {
      problem: `There are permissions for ${mostPermissions} users already, which is the most. Take one away first, or share it with WORLD.`,
    });
}

export function refuseOwner(given: GivenPermission, owner: string): void {
  if (given.user === owner && given.level !== 'UPDATE')
    throw fail('invalid_field', {
      field: 'user',
      problem: `${owner} is the owner, whose permission is always UPDATE`,
    });
}
