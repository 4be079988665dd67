import { createHash } from 'node:crypto';
import { fail } from '../errors.ts';
import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Admitted } from './admit.ts';

/** A key that came with a request, and what the request asked for. */
export interface GivenKey {
  readonly userId: string;
  readonly key: string;
  readonly fingerprint: string;
  /** For how long the reply is remembered. */
  readonly keepSeconds: number;
}

const shape = /^[\x21-\x7e]{1,255}$/;

/** The header, checked; undefined where there is none. */
export function readKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && shape.test(header)) return header;
  throw fail('invalid_field', {
    field: 'Idempotency-Key',
    problem: 'takes 1 to 255 visible characters of ASCII, without spaces',
  });
}

/** Two requests that mean the same have the same one. */
export function fingerprintOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const length = typeof part === 'string' ? Buffer.byteLength(part) : part.byteLength;
    hash.update(`${length}:`).update(part);
  }
  return hash.digest('base64url');
}

interface NewKey {
  readonly reactorId: string;
  readonly userId: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly executionIds: string;
  readonly expiresAt: number;
}

const forgetOld = prepared(
  (db, p: { reactorId: string; userId: string; key: string; now: number }) =>
    db
      .deleteFrom('idempotency_keys')
      .where('reactor_id', '=', p.reactorId)
      .where('user_id', '=', p.userId)
      .where('key', '=', p.key)
      .where('expires_at', '<=', p.now),
);

const insertKey = prepared((db, p: NewKey) =>
  db.insertInto('idempotency_keys').values({
    reactor_id: p.reactorId,
    user_id: p.userId,
    key: p.key,
    fingerprint: p.fingerprint,
    execution_ids: p.executionIds,
    expires_at: p.expiresAt,
  }),
);

/** Keeps the reply in the unit that accepts the messages: both are durable, or neither. */
export function keepReply(
  reactorId: string,
  { userId, key, fingerprint, keepSeconds }: GivenKey,
  executionIds: readonly string[],
): readonly Statement[] {
  const now = Date.now();
  return [
    forgetOld({ reactorId, userId, key, now }),
    insertKey({
      reactorId,
      userId,
      key,
      fingerprint,
      executionIds: JSON.stringify(executionIds),
      expiresAt: now + keepSeconds * 1000,
    }),
  ];
}

/** What was answered to the first request with this key; undefined: there was none lately. */
export async function firstReply(
  store: Store,
  reactorId: string,
  { userId, key, fingerprint }: GivenKey,
): Promise<Admitted | undefined> {
  const row = await store.read
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'execution_ids'])
    .where('reactor_id', '=', reactorId)
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .where('expires_at', '>', Date.now())
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.fingerprint !== fingerprint) throw fail('idempotency_key_reused', { key });
  const ids: unknown = JSON.parse(row.execution_ids);
  return {
    executionIds: Array.isArray(ids) ? ids.map(String) : [],
    repeated: true,
    dueAt: undefined,
  };
}
