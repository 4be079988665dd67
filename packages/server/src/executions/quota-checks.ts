import { type RawBuilder, sql } from 'kysely';
import { fail, type ServiceError } from '../errors.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** How much the owner of a reactor may have in its inboxes. */
export interface DeliveryLimits {
  readonly ownerId: string;
  readonly waitingMessages: number;
  readonly storedBytes: number;
}

const retryAfterSeconds = 10;

/** What waits for all reactors of an owner, by what they carry with them; those that run are counted off. */
const waitingOf = (ownerId: RawBuilder<string>) => sql<number>`(
  select coalesce(sum(last_seq - settled + delayed), 0) from reactors where owner_id = ${ownerId}
) - (
  select count(*) from reactors inner join executions on executions.reactor_id = reactors.id
  where reactors.owner_id = ${ownerId} and executions.status = 'RUNNING'
)`;

const storedOf = (ownerId: RawBuilder<string>) =>
  sql<number>`(select coalesce(sum(stored_bytes), 0) from reactors where owner_id = ${ownerId})`;

interface Asked {
  readonly ownerId: string;
  readonly mostWaiting: number;
  readonly mostBytes: number;
}

/** Changes nothing; meets one row when the owner has room for what comes. */
const meetOwner = prepared((db, p: Asked) =>
  db
    .updateTable('users')
    .set((eb) => ({ status: eb.ref('status') }))
    .where('id', '=', p.ownerId)
    .where(waitingOf(sql`${p.ownerId}`), '<=', sql<number>`cast(${p.mostWaiting} as bigint)`)
    .where(storedOf(sql`${p.ownerId}`), '<=', sql<number>`cast(${p.mostBytes} as bigint)`),
);

export const withinQuotas = (limits: DeliveryLimits, count: number, bytes: number) =>
  meetOwner({
    ownerId: limits.ownerId,
    mostWaiting: limits.waitingMessages - count,
    mostBytes: limits.storedBytes - bytes,
  });

/** Which quota it was, in words. */
export async function quotaProblem(
  store: Store,
  limits: DeliveryLimits,
  count: number,
): Promise<ServiceError> {
  const { waitingMessages, storedBytes } = limits;
  const found = await store.read
    .selectNoFrom(waitingOf(sql`${limits.ownerId}`).as('waiting'))
    .executeTakeFirstOrThrow();
  if (Number(found.waiting) + count > waitingMessages) {
    const problem = `The owner of this reactor may have ${waitingMessages} messages waiting, and has ${Number(found.waiting)}. Nothing was accepted.`;
    return fail('too_many_requests', { problem, seconds: retryAfterSeconds }).withHeaders({
      'retry-after': String(retryAfterSeconds),
    });
  }
  return fail('conflict', {
    problem: `The owner of this reactor may keep ${storedBytes} bytes of messages, and this would be more. Nothing was accepted. Delete reactors that are not needed, or ask an admin for a larger quota.`,
  });
}
