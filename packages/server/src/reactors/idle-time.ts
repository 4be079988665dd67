import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Config } from '../config.ts';
import type { Schema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import type { Reactor } from './reactor.ts';

/** Since when a reactor is idle: what its executions' records tell, so that a message need not say it. */

/** Undefined: idle reactors stay. Records tell of use, so that nothing is known of the time before the oldest of them. */
export function idleLimitMs(
  config: Pick<Config, 'idle_removal' | 'execution_retention'>,
): number | undefined {
  const { idle_removal: seconds, execution_retention: known } = config;
  return seconds === 0 ? undefined : Math.min(seconds, known) * 1000;
}

/** The last to end is among the newest, or soon was. */
const newest = 20;

type OfReactor = ExpressionBuilder<Schema, 'reactors'>;

/** Each by its index, which has none of those that have ended. */
export function isUnderWay(eb: OfReactor): Expression<SqlBool> {
  return eb.or(
    (['SUBMITTED', 'RUNNING'] as const).map((status) =>
      eb.exists(
        eb
          .selectFrom('executions')
          .select('executions.id')
          .whereRef('executions.reactor_id', '=', 'reactors.id')
          .where('executions.status', '=', sql.lit<typeof status>(status)),
      ),
    ),
  );
}

/** When the last of the newest executions ended, in microseconds; 0 when none has. */
export function lastEnd(eb: OfReactor) {
  return sql<number>`coalesce((select max(n.finished_at) from ${eb
    .selectFrom('executions')
    .select('executions.finished_at')
    .whereRef('executions.reactor_id', '=', 'reactors.id')
    .orderBy('executions.seq', 'desc')
    .limit(newest)
    .as('n')}), 0)`;
}

/** In milliseconds; undefined while something waits or runs, or is going to by a schedule. */
export async function idleSince(store: Store, reactor: Reactor): Promise<number | undefined> {
  if (reactor.cronNextAt !== null) return undefined;
  const row = await store.read
    .selectFrom('reactors')
    .select((eb) => lastEnd(eb).as('lastEnd'))
    .where('reactors.id', '=', reactor.id)
    .where((eb) => eb.not(isUnderWay(eb)))
    .executeTakeFirst();
  return row && Math.max(reactor.updatedAt, Math.ceil(Number(row.lastEnd) / 1000));
}
