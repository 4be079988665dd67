import { test } from 'node:test';
import { postgresGrounds } from '../harness/postgres-grounds.ts';
import { killUnderLoad } from './kill-under-load.ts';

/** REACTORD_TEST_KILLS asks for another number. */
const kills = Number(process.env['REACTORD_TEST_KILLS'] ?? 100);

const newGround = postgresGrounds();

test(`nothing is lost and nothing runs twice when a service and its worker are killed ${kills} times under load`, async () => {
  const { database, remove } = await newGround();
  try {
    await killUnderLoad(kills, database);
  } finally {
    await remove();
  }
});
