import { createHmac, randomBytes } from 'node:crypto';
import type { User } from './user.ts';

const rememberedMs = 60_000;
const mostRemembered = 10_000;

interface Remembered {
  readonly userId: string;
  /** The hash that the password was found to fit. When the user has another one now, nothing is known. */
  readonly passwordHash: string;
  until: number;
}

/**
 * Pairs of username and password that were right within the last minute, so that a script that sends them with
 * every request does not cost a slow hash each time. Only a keyed digest is kept; the key is random and never
 * leaves the process.
 */
export class RememberedLogins {
  readonly #key = randomBytes(32);
  /** In the order of use. */
  readonly #logins = new Map<string, Remembered>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  digest(username: string, password: string): string {
    return createHmac('sha256', this.#key).update(`${username}\0${password}`).digest('base64');
  }

  find(digest: string): Pick<Remembered, 'userId' | 'passwordHash'> | undefined {
    const found = this.#logins.get(digest);
    if (found === undefined) return undefined;
    this.#logins.delete(digest);
    if (found.until <= this.#now()) return undefined;
    found.until = this.#now() + rememberedMs;
    this.#logins.set(digest, found);
    return found;
  }

  add(digest: string, user: Pick<User, 'id' | 'passwordHash'>): void {
    this.#logins.delete(digest);
    this.#logins.set(digest, {
      userId: user.id,
      passwordHash: user.passwordHash,
      until: this.#now() + rememberedMs,
    });
    if (this.#logins.size > mostRemembered) {
      for (const oldest of this.#logins.keys()) {
        this.#logins.delete(oldest);
        break;
      }
    }
  }

  forget(userId: string): void {
    for (const [digest, remembered] of this.#logins) {
      if (remembered.userId === userId) this.#logins.delete(digest);
    }
  }
}
