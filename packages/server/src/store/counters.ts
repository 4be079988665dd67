import { sql } from 'kysely';
import { prepared } from './statement.ts';

type Counter = 'uid' | 'access_change' | 'admins' | 'reactors' | 'event';

const firstNumbers: Readonly<Record<Counter, number>> = {
  uid: 1001,
  access_change: 1,
  admins: 1,
  reactors: 1,
  event: 1,
};

const advanceCounter = prepared((db, p: { name: string; first: number }) =>
  db
    .insertInto('counters')
    .values({ name: p.name, value: p.first })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: sql<number>`counters.value + 1` }),
    ),
);

/**
 * Takes the next number for the statements after it in the same unit, which read it with `currentNumber`. Units of
 * other processes that want a number of this counter wait until this one is committed.
 */
export const takeNumber = (counter: Counter) =>
  advanceCounter({ name: counter, first: firstNumbers[counter] });

/** The number that the unit has taken. */
export const currentNumber = (counter: Counter) =>
  sql<number>`(select value from counters where name = ${sql.lit(counter)})`;
