import { twoOnSqlite } from '../harness/two-stores.ts';
import { testQueue } from './queue-conformance.ts';

testQueue('sqlite', twoOnSqlite);
