import pg from 'pg';
import type { BatchUnit, Outcome, UnitStatement } from '../group-commit.ts';
import type { Result } from '../statement.ts';
import { StoreUnavailable, UnexpectedRows } from '../store-errors.ts';
import { translate, uniqueViolation } from './failure.ts';

/**
 * Why two ways to run a batch: the usual one sends everything without waiting for an answer, so a batch takes one
 * round trip however many units it has. Savepoints cannot be part of that, since whether to roll back to one is
 * only known once the answer is here. So when a unit fails, the batch is rolled back and run again the careful way:
 * a savepoint and a round trip per unit, and still one commit for all. A transaction of its own for each unit would
 * cost a sync of the disk each. Measured on one machine, 256 callers, a sync of 0.1 ms: 24,000 units a second when none
 * fails, 7,000 when one in ten does; 6,400 with a commit each, which gets worse with the disk.
 */

const mostAttempts = 3;

/** Resolves with undefined when a unit failed: nothing was applied, and the batch is to be run carefully. */
export async function runPipelined(
  client: pg.Client,
  batch: readonly BatchUnit[],
): Promise<readonly Outcome[] | undefined> {
  const counted = batch.some((unit) => unit.some(({ expected }) => expected !== undefined));
  // Everything of this turn of the event loop goes out in one piece.
  client.connection.stream.cork();
  const begun = client.query('begin');
  const running = batch.map((unit) => unit.map((statement) => run(client, statement)));
  const committed = counted ? undefined : commit(client);
  client.connection.stream.uncork();
  const answers = await Promise.allSettled([begun, committed, ...running.flat()]);
  const reasons = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason] : [],
  );
  if (reasons.length > 0) {
    const gone = reasons.find(isGone);
    if (gone !== undefined) throw gone;
    if (counted) await client.query('rollback');
    return undefined;
  }
  const outcomes = await Promise.all(running.map((unit) => Promise.all(unit)));
  if (counted) {
    if (outcomes.some((results, place) => miscounted(batch[place] ?? [], results) !== undefined)) {
      await client.query('rollback');
      return undefined;
    }
    await commit(client);
  }
  return outcomes;
}

export async function runCarefully(
  client: pg.Client,
  batch: readonly BatchUnit[],
): Promise<readonly Outcome[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query('begin');
      const outcomes: Outcome[] = [];
      for (const unit of batch) outcomes.push(await runGuarded(client, unit));
      await commit(client);
      return outcomes;
    } catch (error) {
      if (!isLostLockFight(error) || attempt === mostAttempts) throw error;
      await client.query('rollback');
    }
  }
}

async function runGuarded(client: pg.Client, unit: BatchUnit): Promise<Outcome> {
  const counted = unit.some(({ expected }) => expected !== undefined);
  const saved = client.query('savepoint unit');
  const running = unit.map((statement) => run(client, statement));
  const released = counted ? undefined : client.query('release unit');
  // The first that failed is the cause; those behind it only say that the transaction has failed.
  const answers = await Promise.allSettled([saved, ...running, released]);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed !== undefined) return undo(client, failed.reason);
  const results = await Promise.all(running);
  const miscount = miscounted(unit, results);
  if (miscount !== undefined) return undo(client, miscount);
  if (counted) await client.query('release unit');
  return results;
}

async function undo(client: pg.Client, reason: unknown): Promise<Error> {
  if (isGone(reason) || isLostLockFight(reason)) throw reason;
  await client.query('rollback to unit; release unit');
  return (await uniqueViolation(reason, client)) ?? translate(reason);
}

async function run(client: pg.Client, statement: UnitStatement): Promise<Result> {
  const { template, values } = statement;
  const name = template.id === undefined ? undefined : `reactord ${template.id}`;
  const { rows, rowCount } = await client.query({ name, text: template.sql, values: [...values] });
  return { rows, affected: rowCount ?? rows.length };
}

async function commit(client: pg.Client): Promise<void> {
  const { command } = await client.query('commit');
  // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, and not with an error.
  if (command !== 'COMMIT') throw new NotCommitted('PostgreSQL rolled the batch back.');
}

class NotCommitted extends StoreUnavailable {}

/** The server, and not a unit, is why the batch failed. */
function isGone(error: unknown): boolean {
  if (error instanceof NotCommitted || isLostLockFight(error)) return false;
  return translate(error) instanceof StoreUnavailable;
}

/** Another process held the same rows in another order; the same batch will pass when run again. */
function isLostLockFight(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40P01' || error.code === '40001');
}

function miscounted(unit: BatchUnit, results: readonly Result[]): UnexpectedRows | undefined {
  for (const [place, { expected }] of unit.entries()) {
    const actual = results[place]?.affected ?? 0;
    if (expected !== undefined && actual !== expected) {
      return new UnexpectedRows(place, expected, actual);
    }
  }
  return undefined;
}
