import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../config.ts';
import { fail } from '../errors.ts';
import { expectRows, prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';

/** A browser, known by its cookie. */
export interface Session {
  /** The sha256 of the cookie: who reads the store cannot take over a session. */
  readonly hash: Buffer;
  /** Null until its person has logged in. */
  readonly userId: string | null;
  readonly createdAt: number;
}

interface Log {
  warn(facts: object, message: string): void;
}

type Limits = Pick<Config, 'session_idle_limit' | 'session_lifetime'>;

/** A visit is written down at most this often. */
const seenMs = 60_000;
const purgeMs = 600_000;
/** A browser that has not logged in is only remembered for as long as a person may take to do so. */
const anonymousMs = 2 * 3_600_000;

const insertSession = prepared((db, p: { hash: Uint8Array; now: number }) =>
  db
    .insertInto('sessions')
    .values({ hash: p.hash, user_id: null, created_at: p.now, last_seen_at: p.now }),
);

/** Only for an active user: it may have been disabled since its password was checked. */
const insertLogin = prepared((db, p: { hash: Uint8Array; userId: string; now: number }) =>
  db
    .insertInto('sessions')
    .columns(['hash', 'user_id', 'created_at', 'last_seen_at'])
    .expression((eb) =>
      eb
        .selectFrom('users')
        .select((of) => [
          of.val(p.hash).as('hash'),
          'id',
          of.val(p.now).as('created_at'),
          of.val(p.now).as('last_seen_at'),
        ])
        .where('id', '=', p.userId)
        .where('status', '=', 'active'),
    ),
);

const deleteSession = prepared((db, p: { hash: Uint8Array }) =>
  db.deleteFrom('sessions').where('hash', '=', p.hash),
);

const moveRequests = prepared((db, p: { from: Uint8Array; to: Uint8Array }) =>
  db
    .updateTable('authorization_requests')
    .set({ session_hash: p.to })
    .where('session_hash', '=', p.from),
);

const deleteRequests = prepared((db, p: { hash: Uint8Array }) =>
  db.deleteFrom('authorization_requests').where('session_hash', '=', p.hash),
);

const touchSession = prepared((db, p: { hash: Uint8Array; now: number }) =>
  db.updateTable('sessions').set({ last_seen_at: p.now }).where('hash', '=', p.hash),
);

const purgeSessions = prepared((db, p: { idle: number; anonymous: number; oldest: number }) =>
  db
    .deleteFrom('sessions')
    .where((eb) =>
      eb.or([
        eb('last_seen_at', '<', p.idle),
        eb('created_at', '<', p.oldest),
        eb.and([eb('user_id', 'is', null), eb('last_seen_at', '<', p.anonymous)]),
      ]),
    ),
);

/** Sessions live in the store, so a restart logs nobody out and every process knows them. */
export class Sessions {
  readonly #store: Store;
  readonly #idleMs: number;
  readonly #lifetimeMs: number;
  readonly #log: Log;
  #purge: NodeJS.Timeout | undefined;

  constructor(store: Store, limits: Limits, log: Log) {
    this.#store = store;
    this.#idleMs = limits.session_idle_limit * 1000;
    this.#lifetimeMs = limits.session_lifetime * 1000;
    this.#log = log;
  }

  async find(cookie: string | undefined): Promise<Session | undefined> {
    if (cookie === undefined || !/^[A-Za-z0-9_-]{43}$/.test(cookie)) return undefined;
    const hash = hashOf(cookie);
    const row = await this.#store.read
      .selectFrom('sessions')
      .leftJoin('users', 'users.id', 'sessions.user_id')
      .select([
        'sessions.user_id',
        'sessions.created_at',
        'sessions.last_seen_at',
        'users.status as user_status',
      ])
      .where('sessions.hash', '=', hash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const now = Date.now();
    const idleMs = row.user_id === null ? Math.min(anonymousMs, this.#idleMs) : this.#idleMs;
    if (now - row.last_seen_at > idleMs || now - row.created_at > this.#lifetimeMs)
      return undefined;
    if (row.user_id !== null && row.user_status !== 'active') return undefined;
    if (now - row.last_seen_at >= seenMs) this.#touch(hash, now);
    return { hash, userId: row.user_id, createdAt: row.created_at };
  }

  /** A session for a browser whose person is not known yet. */
  async open(): Promise<{ cookie: string; session: Session }> {
    const cookie = newCookie();
    const hash = hashOf(cookie);
    const now = Date.now();
    await this.#store.write(insertSession({ hash, now }));
    return { cookie, session: { hash, userId: null, createdAt: now } };
  }

  /**
   * The person has proved who it is. The session gets a new cookie: the old one may have been planted by someone
   * else. What waits for a decision in the old session waits in the new one.
   */
  async logIn(
    old: Session | undefined,
    userId: string,
  ): Promise<{ cookie: string; session: Session }> {
    const cookie = newCookie();
    const hash = hashOf(cookie);
    const now = Date.now();
    const replace =
      old === undefined
        ? []
        : [moveRequests({ from: old.hash, to: hash }), deleteSession({ hash: old.hash })];
    try {
      await this.#store.write(expectRows(insertLogin({ hash, userId, now }), 1), ...replace);
    } catch (error) {
      if (!(error instanceof UnexpectedRows)) throw error;
      throw fail('invalid_credentials', { problem: 'The user has been disabled or removed.' });
    }
    return { cookie, session: { hash, userId, createdAt: now } };
  }

  async end(session: Pick<Session, 'hash'>): Promise<void> {
    await this.#store.write(
      deleteRequests({ hash: session.hash }),
      deleteSession({ hash: session.hash }),
    );
  }

  /** Removes what has run out; it would not be found any more anyway. */
  async purge(): Promise<void> {
    const now = Date.now();
    await this.#store.write(
      purgeSessions({
        idle: now - this.#idleMs,
        anonymous: now - anonymousMs,
        oldest: now - this.#lifetimeMs,
      }),
    );
  }

  start(): void {
    this.#purge ??= setInterval(() => {
      this.purge().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'purging old sessions failed'),
      );
    }, purgeMs).unref();
  }

  stop(): void {
    clearInterval(this.#purge);
    this.#purge = undefined;
  }

  /** Nobody waits for it: a visit that is not written down shortens a session by a minute at most. */
  #touch(hash: Buffer, now: number): void {
    this.#store.write(touchSession({ hash, now })).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'writing down a visit failed');
    });
  }
}

const newCookie = (): string => randomBytes(32).toString('base64url');

const hashOf = (cookie: string): Buffer => createHash('sha256').update(cookie).digest();
