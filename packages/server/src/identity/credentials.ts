import type { AccessChanges } from './access-changes.ts';
import type { HashQueue } from './hash-queue.ts';
import type { LoginLimits } from './login-limits.ts';
import { hashPassword, isOutdated, passwordMatches, unmatchableHash } from './password-hash.ts';
import { RememberedLogins } from './remembered-logins.ts';
import type { User } from './user.ts';
import { canBePassword, isUsername } from './user-rules.ts';
import type { Users } from './users.ts';

interface Parts {
  readonly users: Users;
  readonly changes: AccessChanges;
  readonly hashes: HashQueue;
  readonly limits: LoginLimits;
  readonly log: { info(facts: object, message: string): void };
}

/** A password was tried. `user`: whom it let in; `username` may be anything that somebody typed. */
interface LoginAttempt {
  readonly user: User | undefined;
  readonly username: string;
  readonly address: string;
}

type AttemptListener = (attempt: LoginAttempt) => Promise<void>;

/** Whether a username and a password belong together. All passwords that reach the service are checked here. */
export class Credentials {
  readonly #users: Users;
  readonly #hashes: HashQueue;
  readonly #limits: LoginLimits;
  readonly #log: Parts['log'];
  readonly #remembered = new RememberedLogins();
  /** The same pair from the same place, sent many times at once, is checked once. */
  readonly #underWay = new Map<string, Promise<User | undefined>>();
  readonly #nobody = unmatchableHash();
  readonly #listeners: AttemptListener[] = [];

  constructor({ users, changes, hashes, limits, log }: Parts) {
    this.#users = users;
    this.#hashes = hashes;
    this.#limits = limits;
    this.#log = log;
    changes.onChange(({ kind, subject }) => {
      if (kind === 'user') this.#remembered.forget(subject);
    });
  }

  /**
   * The user, or undefined for an unknown user, a wrong password and a disabled user alike, after the same time.
   * Throws too_many_requests while attempts are held up, and busy when too many passwords wait to be hashed.
   */
  async check(username: string, password: string, address: string): Promise<User | undefined> {
    const digest = this.#remembered.digest(username, password);
    const known = await this.#recall(digest);
    if (known !== undefined) return known;
    const key = `${digest} ${address}`;
    let underWay = this.#underWay.get(key);
    if (underWay === undefined) {
      underWay = this.#attempt(username, password, address, digest).finally(() =>
        this.#underWay.delete(key),
      );
      this.#underWay.set(key, underWay);
    }
    return await underWay;
  }

  /** Told of every attempt that was not answered from memory, before it is answered. */
  onAttempt(listener: AttemptListener): void {
    this.#listeners.push(listener);
  }

  /** The store is asked each time, so what is remembered can be outdated and still lets nobody in. */
  async #recall(digest: string): Promise<User | undefined> {
    const remembered = this.#remembered.find(digest);
    if (remembered === undefined) return undefined;
    const user = await this.#users.byId(remembered.userId);
    const fits = user?.status === 'active' && user.passwordHash === remembered.passwordHash;
    return fits ? user : undefined;
  }

  async #attempt(
    username: string,
    password: string,
    address: string,
    digest: string,
  ): Promise<User | undefined> {
    const attempt = this.#limits.begin(username, address);
    let user: User | undefined;
    try {
      user = await this.#verify(username, password);
    } catch (error) {
      this.#limits.notTried(attempt);
      throw error;
    }
    await Promise.all(this.#listeners.map((listen) => listen({ user, username, address })));
    if (user === undefined) {
      // The name is not logged: people type their password in its place.
      this.#log.info({ event: 'login_failed', from: address }, 'login failed');
      return undefined;
    }
    this.#log.info({ event: 'login', user: user.id, from: address }, 'login');
    this.#limits.succeeded(attempt);
    this.#remembered.add(digest, user);
    return user;
  }

  async #verify(username: string, password: string): Promise<User | undefined> {
    const possible = isUsername(username) && canBePassword(password);
    const user = possible ? await this.#users.byUsername(username) : undefined;
    const active = user?.status === 'active' ? user : undefined;
    const stored = active?.passwordHash ?? this.#nobody;
    const matches = await this.#hashes.run(() => passwordMatches(possible ? password : '', stored));
    if (active === undefined || !matches) return undefined;
    if (isOutdated(stored)) return await this.#rehash(active, password);
    // Hashing takes long enough for the password to be changed, or the user disabled, meanwhile.
    const now = await this.#users.byId(active.id);
    return now?.status === 'active' && now.passwordHash === stored ? now : undefined;
  }

  async #rehash(user: User, password: string): Promise<User | undefined> {
    const passwordHash = await this.#hashes.run(() => hashPassword(password));
    await this.#users.renewHash(user, passwordHash);
    const now = await this.#users.byId(user.id);
    return now?.status === 'active' && now.passwordHash === passwordHash ? now : undefined;
  }
}
