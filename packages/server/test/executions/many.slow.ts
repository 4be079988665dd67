import { test } from 'node:test';
import { withSpares } from '../harness/running-service.ts';
import { postManyMessages } from './many-messages.ts';

test('1,000 messages by 20 clients at once to 10 reactors each run once, in the order of receipt', () =>
  postManyMessages(1_000, withSpares));
