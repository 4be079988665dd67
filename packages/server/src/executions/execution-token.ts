import { createHmac, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { AccessChange } from '../identity/access-changes.ts';
import { hashSecret, secretFrom } from '../oauth/secret-format.ts';
import { serviceKey } from '../oauth/service-key.ts';
import { tokenSubject } from '../oauth/tokens.ts';
import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Execution } from './execution.ts';
import { delayedFrom } from './places.ts';

interface NewToken {
  readonly hash: Uint8Array;
  readonly userId: string;
  readonly clientId: string | null;
  readonly now: number;
  readonly expiresAt: number;
}

/** Where the user or the application has gone since the message was posted, no row is made, and so the token is dead. */
const insertToken = prepared((db, p: NewToken) =>
  db
    .insertInto('access_tokens')
    .columns(['hash', 'client_id', 'user_id', 'flow', 'scope', 'issued_at', 'expires_at'])
    .expression((eb) =>
      eb
        .selectFrom('users')
        .select([
          sql<Uint8Array>`${p.hash}`.as('hash'),
          sql<string | null>`${p.clientId}`.as('client_id'),
          'users.id as user_id',
          sql.lit('execution').as('flow'),
          sql.lit('PRODUCTION').as('scope'),
          sql<number>`cast(${p.now} as bigint)`.as('issued_at'),
          sql<number>`cast(${p.expiresAt} as bigint)`.as('expires_at'),
        ])
        .where('users.id', '=', p.userId)
        .where(
          sql<boolean>`(cast(${p.clientId} as text) is null or exists (select 1 from clients where clients.id = ${p.clientId}))`,
        ),
    )
    .onConflict((conflict) => conflict.column('hash').doNothing()),
);

/** Behind a claim in the same unit: the token of the execution that was claimed with this spare, if any was. */
const insertWithClaim = prepared(
  (db, p: { hash: Uint8Array; reactorId: string; spare: string; now: number; expiresAt: number }) =>
    db
      .insertInto('access_tokens')
      .columns(['hash', 'client_id', 'user_id', 'flow', 'scope', 'issued_at', 'expires_at'])
      .expression((eb) =>
        eb
          .selectFrom('executions')
          .innerJoin('users', 'users.id', 'executions.executor_id')
          .select([
            sql<Uint8Array>`${p.hash}`.as('hash'),
            'executions.client_id',
            'users.id as user_id',
            sql.lit('execution').as('flow'),
            sql.lit('PRODUCTION').as('scope'),
            sql<number>`cast(${p.now} as bigint)`.as('issued_at'),
            sql<number>`cast(${p.expiresAt} as bigint)`.as('expires_at'),
          ])
          // Only the oldest can have been claimed and not yet started.
          .where('executions.id', '=', (oldest) =>
            oldest
              .selectFrom('executions as first')
              .select('first.id')
              .where('first.reactor_id', '=', p.reactorId)
              .where('first.status', '=', sql.lit<'SUBMITTED'>('SUBMITTED'))
              .where('first.seq', '<', sql.lit(delayedFrom))
              .orderBy('first.seq')
              .limit(1),
          )
          .where('executions.spare', '=', p.spare)
          .where(
            sql<boolean>`(executions.client_id is null or exists (select 1 from clients where clients.id = executions.client_id))`,
          ),
      )
      .onConflict((conflict) => conflict.column('hash').doNothing()),
);

const deleteToken = prepared((db, p: { hash: Uint8Array }) =>
  db.deleteFrom('access_tokens').where('hash', '=', p.hash),
);

type Claimed = Pick<Execution, 'id' | 'workerId' | 'attempt' | 'spare'>;

/**
 * The token of an execution: it acts for whoever posted the message, goes where the application may go that posted it,
 * and ends with the execution. It is derived from the claim and not random, so that a service that comes back knows it
 * again: to keep it out of the log, and to end it.
 */
export class ExecutionTokens {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  static async open(store: Store): Promise<ExecutionTokens> {
    return new ExecutionTokens(await serviceKey(store, 'execution_tokens'));
  }

  of({ id, workerId, attempt, spare }: Claimed): string {
    // No spare is claimed twice, and it is known before the execution is.
    if (spare !== null) return this.#derived(`spare ${spare}`);
    // A worker may run the same execution again; the token of its last try stays dead.
    return this.#derived(attempt > 1 ? `${id} ${workerId} ${attempt}` : `${id} ${workerId}`);
  }

  /** Whether this is the token of the execution, as it is claimed now. */
  isOf(execution: Claimed, token: string): boolean {
    return timingSafeEqual(hashSecret(this.of(execution)), hashSecret(token));
  }

  /** Makes the token work, for at most as long as the execution may take. */
  grant(execution: Execution, seconds: number): Statement {
    const now = Date.now();
    return insertToken({
      hash: hashSecret(this.of(execution)),
      userId: execution.executorId,
      clientId: execution.clientId,
      now,
      expiresAt: now + seconds * 1000,
    });
  }

  /** The same in the unit of the claim, for whatever is claimed with this spare: so it has not to be waited for later. */
  grantWithClaim(reactorId: string, spare: string, seconds: number): Statement {
    const now = Date.now();
    const hash = hashSecret(this.#derived(`spare ${spare}`));
    return insertWithClaim({ hash, reactorId, spare, now, expiresAt: now + seconds * 1000 });
  }

  /** What ends the token, to be committed together with the end of the execution. */
  end(execution: Claimed): { readonly change: AccessChange; readonly statement: Statement } {
    const hash = hashSecret(this.of(execution));
    return {
      change: { kind: 'token', subject: tokenSubject(hash) },
      statement: deleteToken({ hash }),
    };
  }

  #derived(claim: string): string {
    return secretFrom('accessToken', createHmac('sha256', this.#key).update(claim).digest());
  }
}

/** A minute more than the longest run: the token dies by being ended, this is for when nobody is there to do it. */
export const tokenSeconds = (timeoutSeconds: number, stopGrace: number): number =>
  timeoutSeconds + stopGrace + 60;
