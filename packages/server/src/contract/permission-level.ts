/** What somebody may do with a reactor, each level with all of those before it. */
export const permissionLevels = ['READ', 'EXECUTE', 'UPDATE'] as const;

export type PermissionLevel = (typeof permissionLevels)[number];

/** Whether a level is enough for what needs another; undefined is no level at all. */
export function reaches(level: PermissionLevel | undefined, needs: PermissionLevel): boolean {
  return level !== undefined && permissionLevels.indexOf(level) >= permissionLevels.indexOf(needs);
}

export function higherOf(
  one: PermissionLevel | undefined,
  other: PermissionLevel | undefined,
): PermissionLevel | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return reaches(one, other) ? one : other;
}

export function lowerOf(
  one: PermissionLevel | undefined,
  other: PermissionLevel,
): PermissionLevel | undefined {
  return one === undefined || reaches(other, one) ? one : other;
}
