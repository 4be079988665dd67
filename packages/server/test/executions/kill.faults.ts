import { test } from 'node:test';
import { killUnderLoad } from './kill-under-load.ts';

/** A hundred takes about five minutes; REACTORD_TEST_KILLS asks for another number. */
const kills = Number(process.env['REACTORD_TEST_KILLS'] ?? 100);

test(`nothing is lost and nothing runs twice when the service is killed ${kills} times under load`, () =>
  killUnderLoad(kills));
