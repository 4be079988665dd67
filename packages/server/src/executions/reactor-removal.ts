import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Reactor } from '../reactors/reactor.ts';
import type { Store } from '../store/store.ts';
import type { Executions } from './executions.ts';
import { haltAllOf } from './halt.ts';
import type { Runner } from './run.ts';
import { dropWaiting } from './waiting.ts';

interface Parts {
  readonly store: Store;
  readonly runner: Pick<Runner, 'ofReactor'>;
  readonly executions: Pick<Executions, 'tellSettled'>;
}

const lookAgainMs = 200;

/**
 * A reactor is to go: what waits for it is dropped, what runs is stopped. Resolves when nothing of it is under way any
 * more, in whatever process. Its status is SHUTTING_DOWN already, so nothing is admitted or claimed any more.
 */
export async function endAllOf(parts: Parts, reactor: Reactor, by: string): Promise<void> {
  const { store, runner, executions } = parts;
  const { id } = reactor;
  const reason = `${by} deleted the reactor`;
  for (;;) {
    await haltAllOf(store, runner, id, reason);
    await dropWaiting(store, id, `dropped: ${reason} before it ran`, (dropped) =>
      executions.tellSettled(dropped),
    );
    const own = runner.ofReactor(id);
    await Promise.all(own.map(({ settled }) => settled));
    if (own.length === 0 && !(await isUnderWay(store, id))) return;
    if (own.length === 0) await pause(lookAgainMs);
  }
}

/** By status, so that each question has its index: those that have ended may be a million. */
async function isUnderWay(store: Store, reactorId: string): Promise<boolean> {
  for (const status of ['SUBMITTED', 'RUNNING'] as const) {
    const row = await store.read
      .selectFrom('executions')
      .select('id')
      .where('reactor_id', '=', reactorId)
      .where('status', '=', sql.lit<typeof status>(status))
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return true;
  }
  return false;
}
