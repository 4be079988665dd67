import type { Caller } from '../contract/caller.ts';
import { isAdmin } from '../contract/caller.ts';
import type { Page } from '../contract/page.ts';
import { higherOf, type PermissionLevel, reaches } from '../contract/permission-level.ts';
import { fail, type ServiceError } from '../errors.ts';
import type { AccessChanges } from '../identity/access-changes.ts';
import type { Users } from '../identity/users.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { unknownReactor, worldNames } from '../reactors/reactor-access.ts';
import { expectRows, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { ForeignKeyViolation, UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import { type Alias, aliasRows, readAlias, visibleTo } from './alias-rows.ts';
import {
  deleteAlias,
  deleteAliasPermission,
  insertAlias,
  insertAliasPermission,
  moveAlias,
  setAliasWorld,
} from './alias-statements.ts';
import { type GivenPermission, refuseOwner, refuseTooMany } from './permission-fields.ts';
import { unknownUser } from './permissions.ts';

interface AliasesParts {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write'>;
  readonly users: Pick<Users, 'byUsername'>;
}

/**
 * The aliases. Every change is announced as one of the reactors that it concerns, so that each process forgets where
 * an alias led.
 */
export class Aliases {
  readonly #parts: AliasesParts;

  constructor(parts: AliasesParts) {
    this.#parts = parts;
  }

  /** The alias, if the caller has the permission on it. To those who have none at all it does not exist. */
  async forCaller(caller: Caller, name: string, needs: PermissionLevel): Promise<Alias> {
    const alias = await readAlias(this.#parts.store.read, name);
    if (alias === undefined) throw unknownAlias(name);
    const level = levelOf(caller, alias);
    if (level === undefined) throw unknownAlias(name);
    if (reaches(level, needs)) return alias;
    const owner = alias.ownerUsername;
    throw fail('missing_permission', { needs, what: `alias ${name}`, level, owner });
  }

  /** In order of the alphabet: the caller's own, those of their reactors, and those shared with them. */
  async list(caller: Caller, { limit, offset }: Page) {
    const { read } = this.#parts.store;
    return aliasRows(read)
      .where('aliases.alias', 'in', visibleTo(read, caller.userId))
      .orderBy('aliases.alias')
      .limit(limit)
      .offset(offset)
      .execute();
  }

  async create(caller: Caller, alias: string, reactor: Reactor): Promise<void> {
    const now = Date.now();
    const reactorId = reactor.id;
    const insert = insertAlias({ alias, reactorId, ownerId: caller.userId, now });
    try {
      await this.#write([reactorId], insert);
    } catch (error) {
      if (error instanceof UniqueViolation) throw taken(alias);
      if (error instanceof ForeignKeyViolation) throw unknownReactor(reactorId);
      throw error;
    }
  }

  async move({ alias, reactorId: from }: Alias, reactor: Reactor): Promise<void> {
    const to = reactor.id;
    const move = moveAlias({ alias, from, to, now: Date.now() });
    try {
      await this.#write([from, to], expectRows(move, 1));
    } catch (error) {
      if (error instanceof UnexpectedRows) throw changedMeanwhile(alias);
      if (error instanceof ForeignKeyViolation) throw unknownReactor(to);
      throw error;
    }
  }

  async remove({ alias, reactorId }: Alias): Promise<void> {
    try {
      await this.#write([reactorId], expectRows(deleteAlias({ alias, reactorId }), 1));
    } catch (error) {
      if (error instanceof UnexpectedRows) throw changedMeanwhile(alias);
      throw error;
    }
  }

  async give(given: GivenPermission, to: Alias): Promise<void> {
    const { alias } = to;
    const level = given.level === 'NONE' ? undefined : given.level;
    if (worldNames.has(given.user)) {
      await this.#parts.store.write(setAliasWorld({ alias, level: level ?? null }));
      return;
    }
    refuseOwner(given, to.ownerUsername);
    const user = await this.#parts.users.byUsername(given.user);
    if (user === undefined) throw unknownUser(given.user);
    const userId = user.id;
    if (userId === to.ownerId) return;
    refuseTooMany(to.permissions.size, !to.permissions.has(userId));
    try {
      await this.#parts.store.write(
        level === undefined
          ? deleteAliasPermission({ alias, userId })
          : insertAliasPermission({ alias, userId, level }),
      );
    } catch (error) {
      if (error instanceof ForeignKeyViolation) throw changedMeanwhile(alias);
      throw error;
    }
  }

  async #write(reactorIds: readonly string[], statement: Statement): Promise<void> {
    const changes = [...new Set(reactorIds)].map((subject) => ({
      kind: 'reactor' as const,
      subject,
    }));
    await this.#parts.changes.write(changes, statement);
  }
}

function levelOf(caller: Caller, alias: Alias): PermissionLevel | undefined {
  const { userId } = caller;
  const owns = alias.ownerId === userId || alias.reactorOwnerId === userId;
  if (owns || isAdmin(caller)) return 'UPDATE';
  return higherOf(alias.permissions.get(userId)?.level, alias.worldLevel);
}

const unknownAlias = (name: string): ServiceError =>
  fail('unknown_resource', { kind: 'alias', name });

const taken = (alias: string): ServiceError =>
  fail('conflict', { problem: `There is an alias called ${alias} already. Choose another name.` });

const changedMeanwhile = (alias: string): ServiceError =>
  fail('conflict', {
    problem: `The alias ${alias} was changed or removed by somebody else meanwhile.`,
  });
