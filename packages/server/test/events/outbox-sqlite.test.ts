import { twoOnSqlite } from '../harness/two-stores.ts';
import { testOutbox } from './outbox-conformance.ts';

testOutbox('sqlite', twoOnSqlite);
