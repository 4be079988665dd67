import { type Caller, hasAdminRole } from '../contract/caller.ts';
import {
  higherOf,
  lowerOf,
  type PermissionLevel,
  permissionLevels,
  reaches,
} from '../contract/permission-level.ts';
import { fail, type ServiceError } from '../errors.ts';
import type { Reactor } from './reactor.ts';

/** Everyone who gets into the area, where permissions are given and shown; and the ancestors' word for it. */
const world = 'WORLD';
export const worldNames: ReadonlySet<string> = new Set([world, 'ABACO_WORLD']);

type Shared = Pick<Reactor, 'id' | 'ownerId' | 'ownerUsername' | 'permissions' | 'worldLevel'>;

/** What the caller may do with the reactor; undefined: not even know of it. `name`: by which it was asked for. */
function levelOf(caller: Caller, name: string, reactor: Shared): PermissionLevel | undefined {
  const { by } = caller;
  if (by.kind !== 'nonce') return levelOfUser(caller, reactor);
  const opens = by.alias === undefined ? by.reactorId === reactor.id : by.alias === name;
  // Never more than its owner may do at this moment.
  return opens ? lowerOf(levelOfUser(caller, reactor), by.level) : undefined;
}

function levelOfUser(caller: Caller, reactor: Shared): PermissionLevel | undefined {
  const { userId } = caller;
  if (reactor.ownerId === userId || hasAdminRole(caller)) return 'UPDATE';
  return higherOf(reactor.permissions.get(userId)?.level, reactor.worldLevel);
}

/** Whether the caller may change the reactor, of which it may know. */
export const mayUpdate = (caller: Caller, name: string, reactor: Reactor): boolean =>
  reaches(levelOf(caller, name, reactor), 'UPDATE');

/**
 * The reactor, if it is there and the caller has the level that is needed. To those who may not even read it, it does
 * not exist.
 */
export function permitted(
  caller: Caller,
  name: string,
  needs: PermissionLevel,
  reactor: Reactor | undefined,
): Reactor {
  if (reactor === undefined) throw unknownReactor(name);
  const level = levelOf(caller, name, reactor);
  if (level === undefined) throw unknownReactor(name);
  if (reaches(level, needs)) return reactor;
  throw fail('missing_permission', {
    needs,
    what: `reactor ${name}`,
    level,
    owner: reactor.ownerUsername,
  });
}

/** Who may do what, by username; the owner first. */
export function permissionMap(reactor: Omit<Shared, 'id'>): Record<string, PermissionLevel> {
  const given = [...reactor.permissions.values()].sort((a, b) =>
    a.username < b.username ? -1 : 1,
  );
  return {
    [reactor.ownerUsername]: 'UPDATE',
    ...Object.fromEntries(given.map(({ username, level }) => [username, level])),
    ...(reactor.worldLevel !== undefined && { [world]: reactor.worldLevel }),
  };
}

/** What the store says in one text: `id name LEVEL`, separated by commas. None of the three has either sign. */
export function readPermissions(text: string | null): Reactor['permissions'] {
  if (text === null || text === '') return nobody;
  return new Map(
    text.split(',').flatMap((entry) => {
      const [userId = '', username = '', given] = entry.split(' ');
      const level = permissionLevels.find((known) => known === given);
      return level === undefined ? [] : [[userId, { username, level }]];
    }),
  );
}

export const nobody: Reactor['permissions'] = new Map();

export const unknownReactor = (name: string): ServiceError =>
  fail('unknown_resource', { kind: 'reactor', name });
