import { setTimeout as pause } from 'node:timers/promises';
import { once, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

const everyMs = 60_000;
/** Small steps: each is one commit that others share and wait for. */
const stepRows = 500;
const betweenStepsMs = 20;
/** A used code is known for some minutes more, so that its replay is noticed. */
const codeKeptMs = 10 * 60_000;
/** A replaced refresh token is known for a month, so that its reuse is noticed. */
const replacedKeptMs = 30 * 24 * 3_600_000;

const expiredAccessTokens = prepared((db, p: { before: number }) =>
  db
    .deleteFrom('access_tokens')
    .where('hash', 'in', (rows) =>
      rows
        .selectFrom('access_tokens')
        .select('hash')
        .where('expires_at', '<', p.before)
        .limit(stepRows),
    )
    .returning('authorization_id'),
);

const expiredRefreshTokens = prepared((db, p: { before: number }) =>
  db
    .deleteFrom('refresh_tokens')
    .where('hash', 'in', (rows) =>
      rows
        .selectFrom('refresh_tokens')
        .select('hash')
        .where('expires_at', '<', p.before)
        .limit(stepRows),
    )
    .returning('authorization_id'),
);

const replacedRefreshTokens = prepared((db, p: { before: number }) =>
  db
    .deleteFrom('refresh_tokens')
    .where('hash', 'in', (rows) =>
      rows
        .selectFrom('refresh_tokens')
        .select('hash')
        .where('replaced_at', '<', p.before)
        .limit(stepRows),
    )
    .returning('authorization_id'),
);

const expiredCodes = prepared((db, p: { before: number }) =>
  db
    .deleteFrom('authorization_codes')
    .where('hash', 'in', (rows) =>
      rows
        .selectFrom('authorization_codes')
        .select('hash')
        .where('expires_at', '<', p.before)
        .limit(stepRows),
    ),
);

const expiredDeviceCodes = prepared((db, p: { before: number }) =>
  db
    .deleteFrom('device_codes')
    .where('hash', 'in', (rows) =>
      rows
        .selectFrom('device_codes')
        .select('hash')
        .where('expires_at', '<', p.before)
        .limit(stepRows),
    ),
);

interface Log {
  warn(facts: object, message: string): void;
}

/** Clears away in the background what has expired. Nothing depends on it: what has expired counts for nothing. */
export class TokenPurge {
  readonly #store: Store;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.run(), everyMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round; rounds do not overlap. */
  run(): Promise<void> {
    this.#running ??= this.#round().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #round(): Promise<void> {
    const now = Date.now();
    try {
      await this.#clear(() => expiredAccessTokens({ before: now }));
      await this.#clear(() => expiredRefreshTokens({ before: now }));
      await this.#clear(() => replacedRefreshTokens({ before: now - replacedKeptMs }));
      await this.#clear(() => expiredCodes({ before: now - codeKeptMs }));
      await this.#clear(() => expiredDeviceCodes({ before: now - codeKeptMs }));
    } catch (error) {
      this.#log.warn({ err: error }, 'clearing away expired tokens failed');
    }
  }

  async #clear(step: () => Statement): Promise<void> {
    while (!this.#stopped) {
      const [cleared] = await this.#store.write(step());
      await this.#endEmpty(cleared.rows);
      if (cleared.affected < stepRows) return;
      await pause(betweenStepsMs);
    }
  }

  /** An authorization whose last token is gone lets nobody in and is shown to nobody. */
  async #endEmpty(rows: readonly unknown[]): Promise<void> {
    const ids = [...new Set(rows.flatMap(authorizationIn))];
    if (ids.length === 0) return;
    await this.#store.write(
      once((db) =>
        db
          .deleteFrom('authorizations')
          .where('id', 'in', ids)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('access_tokens')
                  .select('hash')
                  .whereRef('access_tokens.authorization_id', '=', 'authorizations.id'),
              ),
            ),
          )
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('refresh_tokens')
                  .select('hash')
                  .whereRef('refresh_tokens.authorization_id', '=', 'authorizations.id'),
              ),
            ),
          ),
      ),
    );
  }
}

function authorizationIn(row: unknown): string[] {
  if (typeof row !== 'object' || row === null || !('authorization_id' in row)) return [];
  return typeof row.authorization_id === 'string' ? [row.authorization_id] : [];
}
