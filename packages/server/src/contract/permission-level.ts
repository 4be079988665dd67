/** What somebody may do with a reactor, each level with all of those before it. */
const permissionLevels = ['READ', 'EXECUTE', 'UPDATE'] as const;

export type PermissionLevel = (typeof permissionLevels)[number];
