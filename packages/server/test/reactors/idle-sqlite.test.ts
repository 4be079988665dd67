import { twoOnSqlite } from '../harness/two-stores.ts';
import { testIdleRemoval } from './idle-conformance.ts';

testIdleRemoval('sqlite', twoOnSqlite);
