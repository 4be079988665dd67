import { test } from 'node:test';
import { killUnderLoad } from './kill-under-load.ts';

test('nothing is lost and nothing runs twice when the service is killed three times under load', () =>
  killUnderLoad(3));
