import { test } from 'node:test';
import { postManyMessages } from './many-messages.ts';

test('60 messages by 20 clients at once to 10 reactors each run once, in the order of receipt', () =>
  postManyMessages(60));
