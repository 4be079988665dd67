import { fail } from '../errors.ts';
import { addressBlock } from './address-block.ts';
import { FailedLogins } from './failed-logins.ts';

const day = 24 * 3_600_000;
const mostPlaces = 20_000;

/** One attempt to log in, under the keys by which it is counted. */
interface Attempt {
  readonly user: string;
  readonly address: string;
  readonly place: string;
}

/**
 * Slows down those who guess passwords: at one user from one place, at many users from one place, and at one user
 * from many places. The last is the mildest, and does not hold for places from which that user has logged in:
 * otherwise anyone could keep anyone out.
 */
export class LoginLimits {
  readonly #atPlace = new FailedLogins({
    free: 5,
    mostSeconds: 900,
    memoryMs: day,
    keys: mostPlaces,
  });
  readonly #fromAddress = new FailedLogins({
    free: 20,
    mostSeconds: 900,
    memoryMs: 3_600_000,
    keys: mostPlaces,
  });
  readonly #atUser = new FailedLogins({
    free: 50,
    mostSeconds: 60,
    memoryMs: day,
    keys: mostPlaces,
  });
  /** Places from which a user has logged in, in the order of use. */
  readonly #known = new Set<string>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Lets an attempt begin, counted as failed until it has succeeded; throws when it has to wait. */
  begin(username: string, address: string): Attempt {
    const user = username.slice(0, 64).toLowerCase();
    const from = addressBlock(address);
    const attempt = { user, address: from, place: `${from} ${user}` };
    const now = this.#now();
    const wait = Math.max(
      this.#atPlace.waitFor(attempt.place, now),
      this.#fromAddress.waitFor(from, now),
      this.#known.has(attempt.place) ? 0 : this.#atUser.waitFor(user, now),
    );
    if (wait > 0) throw tooMany(Math.ceil(wait / 1000));
    this.#atPlace.count(attempt.place, now);
    this.#fromAddress.count(from, now);
    this.#atUser.count(user, now);
    return attempt;
  }

  succeeded(attempt: Attempt): void {
    this.#atPlace.forget(attempt.place);
    this.#fromAddress.takeBack(attempt.address);
    this.#atUser.takeBack(attempt.user);
    this.#known.delete(attempt.place);
    this.#known.add(attempt.place);
    if (this.#known.size > mostPlaces) {
      for (const oldest of this.#known) {
        this.#known.delete(oldest);
        break;
      }
    }
  }

  /** The password was not looked at, for a reason of ours. */
  notTried(attempt: Attempt): void {
    this.#atPlace.takeBack(attempt.place);
    this.#fromAddress.takeBack(attempt.address);
    this.#atUser.takeBack(attempt.user);
  }
}

function tooMany(seconds: number): Error {
  return fail('too_many_requests', { problem: 'Too many failed logins.', seconds }).withHeaders({
    'retry-after': String(seconds),
  });
}
