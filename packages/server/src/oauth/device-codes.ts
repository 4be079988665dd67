import { randomInt } from 'node:crypto';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import { hashSecret, looksLike, newSecret } from './secret-format.ts';

/** Ten minutes to find a browser, log in and type eight letters. */
const deviceCodeSeconds = 600;
const firstInterval = 5;
/** RFC 8628 3.5: slow_down asks for five seconds more, from then on. */
const slowDownSeconds = 5;

/** Consonants that are hard to mistake and form no words. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

export interface StartedDevice {
  readonly deviceCode: string;
  /** `XXXX-XXXX`, to be typed by a person. */
  readonly userCode: string;
  readonly expiresIn: number;
  readonly interval: number;
}

/** A device that waits for a person's yes or no. */
export interface PendingDevice {
  readonly userCode: string;
  readonly clientId: string;
  readonly scope: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What a device hears when it asks for its token. */
export type DeviceAnswer =
  | { readonly status: 'unknown' | 'pending' | 'slow_down' | 'denied' | 'expired' | 'used' }
  | { readonly status: 'approved'; readonly device: ApprovedDevice };

export interface ApprovedDevice {
  readonly hash: Uint8Array;
  readonly clientId: string;
  readonly userId: string;
  readonly scope: string;
}

const insertDevice = prepared(
  (
    db,
    p: {
      hash: Uint8Array;
      userCode: string;
      clientId: string;
      scope: string;
      now: number;
      expiresAt: number;
      interval: number;
    },
  ) =>
    db.insertInto('device_codes').values({
      hash: p.hash,
      user_code: p.userCode,
      client_id: p.clientId,
      scope: p.scope,
      status: 'pending',
      created_at: p.now,
      expires_at: p.expiresAt,
      poll_interval: p.interval,
    }),
);

const notePoll = prepared((db, p: { hash: Uint8Array; now: number; interval: number }) =>
  db
    .updateTable('device_codes')
    .set({ last_polled_at: p.now, poll_interval: p.interval })
    .where('hash', '=', p.hash),
);

const decideDevice = prepared(
  (db, p: { userCode: string; userId: string; status: 'approved' | 'denied'; now: number }) =>
    db
      .updateTable('device_codes')
      .set({ status: p.status, user_id: p.userId })
      .where('user_code', '=', p.userCode)
      .where('status', '=', 'pending')
      .where('expires_at', '>', p.now),
);

const useDevice = prepared((db, p: { hash: Uint8Array }) =>
  db
    .updateTable('device_codes')
    .set({ status: 'used' })
    .where('hash', '=', p.hash)
    .where('status', '=', 'approved'),
);

/** Device codes (RFC 8628): a device without a browser waits while its person says yes elsewhere. */
export class DeviceCodes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async start(client: { readonly id: string }, scope: string): Promise<StartedDevice> {
    for (;;) {
      const deviceCode = newSecret('deviceCode');
      const userCode = newUserCode();
      const now = Date.now();
      try {
        await this.#store.write(
          insertDevice({
            hash: hashSecret(deviceCode),
            userCode,
            clientId: client.id,
            scope,
            now,
            expiresAt: now + deviceCodeSeconds * 1000,
            interval: firstInterval,
          }),
        );
        return { deviceCode, userCode, expiresIn: deviceCodeSeconds, interval: firstInterval };
      } catch (error) {
        // Among 25 billion user codes two may meet: take another.
        if (!(error instanceof UniqueViolation)) throw error;
      }
    }
  }

  /** The device behind what a person typed, in any case, with or without the hyphen. */
  async byUserCode(typed: string): Promise<PendingDevice | undefined> {
    const userCode = readUserCode(typed);
    if (userCode === undefined) return undefined;
    const row = await this.#store.read
      .selectFrom('device_codes')
      .selectAll()
      .where('user_code', '=', userCode)
      .where('status', '=', 'pending')
      .where('expires_at', '>', Date.now())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      userCode: row.user_code,
      clientId: row.client_id,
      scope: row.scope,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    };
  }

  /** False: nothing waits under this code any more. */
  async decide(typed: string, userId: string, approved: boolean): Promise<boolean> {
    const userCode = readUserCode(typed);
    if (userCode === undefined) return false;
    const status = approved ? 'approved' : 'denied';
    const [decided] = await this.#store.write(
      decideDevice({ userCode, userId, status, now: Date.now() }),
    );
    return decided.affected === 1;
  }

  /** A device asks for its token. Only its own client hears anything of it. */
  async poll(deviceCode: string, client: { readonly id: string }): Promise<DeviceAnswer> {
    if (!looksLike('deviceCode', deviceCode)) return { status: 'unknown' };
    const hash = hashSecret(deviceCode);
    const row = await this.#store.read
      .selectFrom('device_codes')
      .selectAll()
      .where('hash', '=', hash)
      .where('client_id', '=', client.id)
      .executeTakeFirst();
    if (row === undefined) return { status: 'unknown' };
    if (row.status === 'used') return { status: 'used' };
    const now = Date.now();
    if (row.expires_at <= now) return { status: 'expired' };
    if (row.status === 'denied') return { status: 'denied' };
    if (row.status === 'approved' && row.user_id !== null) {
      const device = { hash, clientId: row.client_id, userId: row.user_id, scope: row.scope };
      return { status: 'approved', device };
    }
    const tooSoon =
      row.last_polled_at !== null && now - row.last_polled_at < row.poll_interval * 1000;
    const interval = row.poll_interval + (tooSoon ? slowDownSeconds : 0);
    await this.#store.write(notePoll({ hash, now, interval }));
    return { status: tooSoon ? 'slow_down' : 'pending' };
  }

  /** Uses the approval up and commits `unit` with it. False: another request was first. */
  async consume(device: ApprovedDevice, ...unit: readonly Statement[]): Promise<boolean> {
    try {
      await this.#store.write(expectRows(useDevice({ hash: device.hash }), 1), ...unit);
      return true;
    } catch (error) {
      if (error instanceof UnexpectedRows) return false;
      throw error;
    }
  }
}

function newUserCode(): string {
  const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('');
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

function readUserCode(typed: string): string | undefined {
  const bare = typed.toUpperCase().replace(/[\s-]/g, '');
  const known = bare.length === 8 && [...bare].every((letter) => letters.includes(letter));
  return known ? `${bare.slice(0, 4)}-${bare.slice(4)}` : undefined;
}
