import type { Page } from '../contract/page.ts';
import { fail } from '../errors.ts';
import { newId } from '../ids.ts';
import { takeNumber } from '../store/counters.ts';
import { expectRows, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import type { AccessChanges } from './access-changes.ts';
import { endAllAccess, endLogins } from './ending-access.ts';
import { HashQueue } from './hash-queue.ts';
import { hashPassword } from './password-hash.ts';
import { checkProfile, type ProfileFields } from './profile-rules.ts';
import type { OwnQuotas } from './quotas.ts';
import { serviceUser } from './service-user.ts';
import { type User, type UserStatus, userFromRow, writeNames } from './user.ts';
import { checkGrants, checkNewPassword, checkRoles, checkUsername } from './user-rules.ts';
import { searchUsers, type UserFilter } from './user-search.ts';
import {
  deleteUser,
  insertUser,
  renewHash,
  type UserColumns,
  updateUser,
} from './user-statements.ts';

export interface NewUser extends ProfileFields {
  readonly username: string;
  readonly password: string;
  readonly roles?: Iterable<string> | undefined;
  readonly grants?: Iterable<string> | undefined;
}

/** What is to be different. What is not named stays as it is. */
export interface UserChange extends ProfileFields {
  readonly status?: UserStatus | undefined;
  readonly roles?: Iterable<string> | undefined;
  readonly grants?: Iterable<string> | undefined;
  readonly quotas?: OwnQuotas | undefined;
  readonly password?: string | undefined;
  /** With `password`: the session in which it is changed stays. */
  readonly keepSession?: Uint8Array | undefined;
}

const mostTries = 20;

/** The people who have an account. */
export class Users {
  readonly #store: Store;
  readonly #changes: AccessChanges;
  readonly #hashes: HashQueue;

  constructor(store: Store, changes: AccessChanges, hashes = new HashQueue()) {
    this.#store = store;
    this.#changes = changes;
    this.#hashes = hashes;
  }

  async byId(id: string): Promise<User | undefined> {
    const row = await this.#store.read
      .selectFrom('users')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row === undefined ? undefined : userFromRow(row);
  }

  /** The name as it is written: `Ada` does not find `ada`. */
  async byUsername(username: string): Promise<User | undefined> {
    const row = await this.#store.read
      .selectFrom('users')
      .selectAll()
      .where('username', '=', username)
      .where('id', '!=', serviceUser.id)
      .executeTakeFirst();
    return row === undefined ? undefined : userFromRow(row);
  }

  search(filter: UserFilter, page: Page & { readonly after: number }): Promise<readonly User[]> {
    return searchUsers(this.#store, filter, page);
  }

  async create(given: NewUser): Promise<User> {
    checkUsername(given.username);
    checkNewPassword(given.password);
    const profile = checkProfile(given);
    const roles = writeNames(checkRoles(given.roles ?? []));
    const grants = writeNames(checkGrants(given.grants ?? []));
    const passwordHash = await this.#hashes.run(() => hashPassword(given.password));
    const id = newId();
    const insert = insertUser({
      id,
      username: given.username,
      passwordHash,
      email: profile.email ?? '',
      firstName: profile.firstName ?? '',
      lastName: profile.lastName ?? '',
      phone: profile.phone ?? '',
      mobilePhone: profile.mobilePhone ?? '',
      details: writeDetails(profile.details ?? {}),
      roles,
      grants,
      now: Date.now(),
    });
    try {
      const [, created] = await this.#changes.write(
        [{ kind: 'user', subject: id }],
        takeNumber('uid'),
        expectRows(insert, 1),
      );
      const [row] = created.rows;
      if (row === undefined) throw new Error('the new user did not come back from the store');
      return userFromRow(row);
    } catch (error) {
      if (!(error instanceof UniqueViolation) || error.table !== 'users') throw error;
      throw await this.#taken(given.username);
    }
  }

  /** Throws when a new user could not have this name, be it for the case of a letter. */
  async refuseTaken(username: string): Promise<void> {
    const owner = await this.#ownerOf(username);
    if (owner !== undefined) throw fail('name_taken', { kind: 'user', name: owner });
  }

  /**
   * Changes what is named and nothing else, also when others change the same user at the same time. What the change
   * ends (sessions, tokens) ends in the same commit.
   */
  async change(
    id: string,
    wanted: UserChange | ((current: User) => UserChange),
  ): Promise<User | undefined> {
    for (let attempt = 1; attempt <= mostTries; attempt += 1) {
      const current = await this.byId(id);
      if (current === undefined) return undefined;
      const change = typeof wanted === 'function' ? wanted(current) : wanted;
      const changed = await this.#apply(current, change);
      if (changed !== undefined) return changed;
    }
    throw tooBusy();
  }

  async remove(id: string): Promise<boolean> {
    for (let attempt = 1; attempt <= mostTries; attempt += 1) {
      const current = await this.byId(id);
      if (current === undefined) return false;
      const clients = await this.#store.read
        .selectFrom('clients')
        .select('id')
        .where('owner_id', '=', id)
        .execute();
      const removal = deleteUser({
        id,
        revision: current.revision,
        keepAnAdmin: isActiveAdmin(current),
      });
      const done = await this.#guarded(
        current,
        [
          { kind: 'user', subject: id },
          ...clients.map((client) => ({ kind: 'client' as const, subject: client.id })),
        ],
        removal,
      );
      if (done !== undefined) return true;
    }
    throw tooBusy();
  }

  /** Keeps the same password under a hash of today's cost, unless the password has been changed meanwhile. */
  async renewHash(user: User, renewed: string): Promise<void> {
    await this.#store.write(renewHash({ id: user.id, old: user.passwordHash, renewed }));
  }

  async #taken(username: string): Promise<Error> {
    const name = (await this.#ownerOf(username)) ?? username;
    return fail('name_taken', { kind: 'user', name });
  }

  async #ownerOf(username: string): Promise<string | undefined> {
    const row = await this.#store.read
      .selectFrom('users')
      .select('username')
      .where((eb) => eb(eb.fn<string>('lower', ['username']), '=', username.toLowerCase()))
      .executeTakeFirst();
    return row?.username;
  }

  /** Undefined: someone else was faster, and the change has to be thought over. */
  async #apply(current: User, change: UserChange): Promise<User | undefined> {
    const columns = await this.#columnsOf(current, change);
    const demoted =
      change.status === 'disabled' ||
      (change.roles !== undefined && ![...change.roles].includes('admin'));
    const update = updateUser(columns, {
      id: current.id,
      revision: current.revision,
      keepAnAdmin: isActiveAdmin(current) && demoted,
    });
    const result = await this.#guarded(
      current,
      [{ kind: 'user', subject: current.id }],
      update,
      ...endedBy(current.id, change),
    );
    const row = result?.rows[0];
    return row === undefined ? undefined : userFromRow(row);
  }

  async #columnsOf(current: User, change: UserChange): Promise<UserColumns> {
    const profile = checkProfile(change);
    const { email, firstName, lastName, phone, mobilePhone, details } = profile;
    const columns: { -readonly [Name in keyof UserColumns]: UserColumns[Name] } = {};
    if (email !== undefined) columns.email = email;
    if (firstName !== undefined) columns.first_name = firstName;
    if (lastName !== undefined) columns.last_name = lastName;
    if (phone !== undefined) columns.phone = phone;
    if (mobilePhone !== undefined) columns.mobile_phone = mobilePhone;
    if (details !== undefined) columns.details = writeDetails({ ...current.details, ...details });
    if (change.status !== undefined) columns.status = change.status;
    if (change.roles !== undefined) columns.roles = writeNames(checkRoles(change.roles));
    if (change.grants !== undefined) columns.grants = writeNames(checkGrants(change.grants));
    if (change.quotas !== undefined) columns.quotas = JSON.stringify(change.quotas);
    const { password } = change;
    if (password !== undefined) {
      checkNewPassword(password);
      columns.password_hash = await this.#hashes.run(() => hashPassword(password));
      columns.password_changed_at = Date.now();
    }
    return columns;
  }

  /** One commit; undefined when the user was changed meanwhile; throws when no admin would be left. */
  async #guarded<Row>(
    current: User,
    changes: Parameters<AccessChanges['write']>[0],
    statement: Statement<Row>,
    ...more: Statement[]
  ) {
    try {
      // The counter first: two processes wait for each other there, so that neither of the last two admins can go
      // while the other one still seems to be there.
      const [, result] = await this.#changes.write(
        changes,
        takeNumber('admins'),
        expectRows(statement, 1),
        ...more,
      );
      return result;
    } catch (error) {
      if (!(error instanceof UnexpectedRows)) throw error;
    }
    const now = await this.byId(current.id);
    if (now === undefined || now.revision !== current.revision) return undefined;
    throw fail('conflict', {
      problem: `${current.username} is the last active admin. Make another user an admin first.`,
    });
  }
}

const tooBusy = () =>
  fail('conflict', { problem: 'The user is being changed by others all the time. Try again.' });

const isActiveAdmin = (user: User): boolean => user.status === 'active' && user.roles.has('admin');

function endedBy(userId: string, change: UserChange): readonly Statement[] {
  if (change.status === 'disabled') return endAllAccess(userId);
  return change.password === undefined ? [] : endLogins(userId, change.keepSession);
}

function writeDetails(details: Readonly<Record<string, string | null>>): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null)),
  );
}
